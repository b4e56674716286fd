"""The extenders of a KubeSchedulerConfiguration, and those that kube-scheduler is told in their place."""

from typing import Any

import pytest

from batkube.schedulers.extenders import ExtenderError, read_extenders, relayed

JSON = dict[str, Any]
FIRST: JSON = {"urlPrefix": "http://placer:8080/v1/", "filterVerb": "filter", "bindVerb": "bind", "ignorable": True}
SECOND: JSON = {
    "urlPrefix": "https://[::1]:8443",
    "enableHTTPS": True,
    "tlsConfig": {"insecure": True, "serverName": "placer"},
    "prioritizeVerb": "rank",
    "httpTimeout": "1m0.5s",
}


def test_they_are_read_as_kube_scheduler_reads_them() -> None:
    first, second = read_extenders({"extenders": [FIRST, SECOND]}, "f")
    assert (first.url, first.timeout) == ("http://placer:8080/v1", 5.0)
    assert sorted(first.errors_in_answers) == ["bind", "filter"]
    assert (second.timeout, second.server_name) == (60.5, "placer")
    assert not second.errors_in_answers
    assert read_extenders({}, "f") == []


def test_kube_scheduler_asks_the_server_instead() -> None:
    given = [FIRST, SECOND]
    first, second = relayed(given, read_extenders({"extenders": given}, "f"), "http://127.0.0.1:80", {})
    assert first == {
        **FIRST,
        "urlPrefix": "http://127.0.0.1:80/batkube/v1/extenders/0/placer:8080/v1",
        "httpTimeout": "65s",
    }
    assert second["urlPrefix"] == "http://127.0.0.1:80/batkube/v1/extenders/1/[::1]:8443"
    assert second.keys().isdisjoint(("tlsConfig", "enableHTTPS"))
    (one,) = relayed([SECOND], read_extenders({"extenders": [SECOND]}, "f"), "https://127.0.0.1:80", {"caData": "YQ=="})
    assert (one["enableHTTPS"], one["tlsConfig"]) == (True, {"caData": "YQ=="})


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("placer", "f: extenders: expected a list of extenders"),
        ([{}], "f: extenders[0]: expected an extender with a urlPrefix"),
        (
            [FIRST, {"urlPrefix": "localhost:80"}],
            "f: extenders[1].urlPrefix: 'localhost:80': expected http://HOST:PORT/",
        ),
        ([{"urlPrefix": "http://a:b/"}], "f: extenders[0].urlPrefix: 'http://a:b': Port could not be cast"),
        ([{**FIRST, "httpTimeout": "soon"}], "f: extenders[0].httpTimeout: expected a duration such as 5s, not 'soon'"),
        ([{**FIRST, "httpTimeout": 5}], "f: extenders[0].httpTimeout: expected a duration such as 5s, not 5"),
        ([{**SECOND, "tlsConfig": {"caFile": "nowhere"}}], "f: extenders[0].tlsConfig: [Errno 2] No such file"),
        ([{**SECOND, "tlsConfig": {"certData": "a"}}], "f: extenders[0].tlsConfig: Invalid base64"),
        ([{**SECOND, "tlsConfig": "none"}], "f: extenders[0].tlsConfig: "),
    ],
)
def test_what_is_wrong_is_told_with_its_place(given: object, complaint: str) -> None:
    with pytest.raises(ExtenderError) as caught:
        read_extenders({"extenders": given}, "f")
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)
