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
