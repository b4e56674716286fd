"""The environment in which a scheduler does the same each time."""

from batkube.schedulers.under_test import DETERMINISM, deterministic


def test_settings_of_the_users_own_are_kept() -> None:
    added = deterministic({"GODEBUG": "http2client=0", "HOME": "/home"}, 0)
    assert added["GODEBUG"] == "asyncpreemptoff=1,randautoseed=0,http2client=0"
    added = {"GODEBUG": "asyncpreemptoff=1,randautoseed=0", "PYTHONHASHSEED": "0"}
    assert deterministic({}, 0) == {**DETERMINISM, **added}


def test_numbers_of_math_rand_follow_from_the_seed() -> None:
    assert deterministic({}, 7)["GODEBUG"] == "asyncpreemptoff=1"


def test_the_order_of_pythons_sets_follows_from_the_seed() -> None:
    assert deterministic({}, 7)["PYTHONHASHSEED"] == "7"
    assert 0 <= int(deterministic({}, -1)["PYTHONHASHSEED"]) < 2**32
