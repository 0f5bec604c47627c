from __future__ import annotations

from safepip.reasoning.likeness import near

NAMES = ("numpy", "nvidia-cudnn-cu12", "libcudnn.so.9", "libcudnn_ops.so.9", "requests", "urllib3")


def test_a_slip_of_the_hand_comes_to_the_name_that_was_meant() -> None:
    assert [near(name, NAMES) for name in ("nunpy", "Reqests", "nvidia_cudnn.cu13")] == [
        ("numpy",),
        ("requests",),
        ("nvidia-cudnn-cu12",),
    ]


def test_a_library_of_another_version_is_like_it_and_what_is_like_nothing_gets_nothing() -> None:
    assert near("libcudnn.so.8", NAMES) == ("libcudnn.so.9",)
    assert [near(name, NAMES) for name in ("zzz", "n", "")] == [(), (), ()]


def test_dashes_dots_and_underscores_are_one_as_pep_503_has_it() -> None:
    assert near("a_b_c_d", ("a-b-c-d",)) == near("a.b.c.d", ("a-b-c-d",)) == ("a-b-c-d",)
    assert near("a-b-c-d", ("a_b.c_d",)) == ("a_b.c_d",)


def test_only_of_a_library_the_heart_is_compared_and_each_has_its_own() -> None:
    assert near("libcudnn.so.8", ("libcublas.so.12", "libcudnn.so.9")) == ("libcudnn.so.9",)
    assert near("libgo", ("go",)) == near("zope.sorted", ("zope",)) == ()
    assert near("nx", ("nx2",)) == ("nx2",)
