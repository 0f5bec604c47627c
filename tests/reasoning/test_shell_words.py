"""Lines of shell into words, as bash reads them: each line beside what bash makes of it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from safepip.reasoning.shell.shell_words import UnclearError, split

WORDS = {
    "a b\tc": [["a", "b", "c"]],
    "a'b c'd": [["ab cd"]],
    'a"b c"d': [["ab cd"]],
    r"a\ b \'": [["a b", "'"]],
    r'"a\"b" "a\b" "\$x\`\\"': [['a"b', r"a\b", "$x`\\"]],
    '"a\\\nb" c\\\nd': [["ab", "cd"]],
    "'' \"\"": [["", ""]],
    "a; b && c || d & e | f": [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]],
    "a\nb # c\nd": [["a"], ["b"], ["d"]],
    "a#b #": [["a#b"]],
    "a > out 2>&1 < in >> more b": [["a", "b"]],
    "a 2>err 3 &> both": [["a", "3"]],
    "a >": [["a"]],
    "a > ; b": [["a"], ["b"]],
    "a >| out": [["a"]],
    '$"a" $"b c"': [["a", "b c"]],
    '"$" a$ "x$\'y" ; b': [["$", "a$", "x$'y"], ["b"]],
    '"a{b,c}"': [["a{b,c}"]],
    "$'a b'c$'d'": [["a bcd"]],
    "{b} {} a{b c}": [["{b}", "{}", "a{b", "c}"]],
    "a,b} {": [["a,b}", "{"]],
}
DYNAMIC = {
    "$x ${x} $1 $@ $$ $-": ["$''"] * 6,
    '"$x" "a${x}b"': ["$''", "$'ab'"],
    "a* b? {a,b} {1..3}": ["$'a*'", "$'b?'", "$'{a,b}'", "$'{1..3}'"],
    r"$'a\nb' $'it\'s' c": [r"$'a\\nb'", '$"it\\\\\'s"', "'c'"],
    '${x:-"}"} b': ["$''", "'b'"],
    "${x:-'}'} b": ["$''", "'b'"],
    r"${x:-\}} b": ["$''", "'b'"],
    '"${x:-it\'s}" b': ["$''", "'b'"],
    "${x:-${y}} b": ["$''", "'b'"],
    "a$x.b": ["$'a.b'"],
    "${x": ["$''"],
}
RUNS = {
    "a $(b c) d": [["b", "c"], ["a", "", "d"]],
    "a `b c` d": [["b", "c"], ["a", "", "d"]],
    'a "$(b "c d")"': [["b", "c d"], ["a", ""]],
    "a $(b ')' c)": [["b", ")", "c"], ["a", ""]],
    "a $(b 'x)y' c)": [["b", "x)y", "c"], ["a", ""]],
    r"a $(b \) c)": [["b", ")", "c"], ["a", ""]],
    'a $(b "$(c)")': [["c"], ["b", ""], ["a", ""]],
    'a $(b "`c`")': [["c"], ["b", ""], ["a", ""]],
    "a <(b) >(c)": [["b"], ["c"], ["a", "", ""]],
    "a ${x:-$(b)}": [["b"], ["a", ""]],
    'a "${x:-`b`}"': [["b"], ["a", ""]],
    "(a; b)": [["a"], ["b"]],
}


@pytest.mark.parametrize("line", WORDS)
def test_what_stands_for_itself_is_told_word_for_word(line: str) -> None:
    read = split(line)
    assert [[word.text for word in command.words] for command in read] == WORDS[line]
    assert not any(word.dynamic for command in read for word in command.words)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_reads_the_same_words() -> None:
    """Put behind a command that prints its words: of lines with one command only, and nothing is written."""
    lines = [line for line, told in WORDS.items() if len(told) == 1 and not set(line) & set("<>#")]
    script = "said() { printf '%s\\0' \"$@\"; printf '\\n'; }\n" + "".join(f"said {line}\n" for line in lines)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert [row.split("\0")[:-1] for row in done.stdout.splitlines()] == [WORDS[line][0] for line in lines]


@pytest.mark.parametrize("line", DYNAMIC)
def test_what_the_shell_would_have_to_expand_is_marked(line: str) -> None:
    (command,) = split(line)
    assert [repr(word) for word in command.words] == DYNAMIC[line]


@pytest.mark.parametrize("line", RUNS)
def test_what_a_substitution_runs_comes_before_what_it_stands_in(line: str) -> None:
    assert [[word.text for word in command.words] for command in split(line)] == RUNS[line]


def test_only_a_program_behind_a_pipe_reads_what_another_writes() -> None:
    assert [command.piped for command in split("a | b; c || d |& e")] == [False, True, False, False, True]


@pytest.mark.parametrize(
    ("line", "fed", "others"),
    [
        ("bash <<END\none\ntwo\nEND\nafter", ["one\ntwo"], [["after"]]),
        ("bash <<-END\n\tone\n\tEND\nafter", ["\tone"], [["after"]]),
        ("bash <<'END'\n$(no) `no`\nEND\n", ["$(no) `no`"], []),
        (
            "bash <<END\n$(one) `two` \\$(no) $x 'it\nEND\n",
            ["$(one) `two` \\$(no) $x 'it"],
            [["one"], ["two"]],
        ),
        ("bash <<END\nwithout end", ["without end"], []),
        ("bash <<END", [], []),
        ("bash <<A <<B\none\nA\ntwo\nB\n", ["one", "two"], []),
        ("bash <<< 'one two' -x", ["one two"], []),
        ("bash <<<-x", ["-x"], []),
    ],
)
def test_what_a_command_is_fed_is_told_and_what_that_runs_where_it_is_expanded(
    line: str, fed: list[str], others: list[list[str]]
) -> None:
    (shell,) = [one for one in split(line) if one.words and one.words[0].text == "bash"]
    assert [word.text for word in shell.fed] == fed
    told = [[word.text for word in one.words] for one in split(line) if one.words[0].text != "bash"]
    assert sorted(told) == sorted(others)


@pytest.mark.parametrize(
    "line",
    [
        "a 'b",
        'a "b',
        "a `b",
        "a $(b",
        "a $(b ')",
        "a $'b",
        "a $'b\\'",
        'a "$(b',
        "a ${x:-'b",
        "$(" * 30 + ")" * 30,
    ],
)
def test_what_does_not_end_or_is_nested_without_end_is_unclear(line: str) -> None:
    with pytest.raises(UnclearError):
        split(line)


def test_quotes_in_substitutions_in_quotes_are_read_once() -> None:
    """Twice at each level would be a million times at the deepest."""
    line = '$("' * 16 + "a" + '")' * 16
    assert [len(command.words) for command in split(line)] == [1] * 17
