"""Which proxy a URL goes through (N2, N3). The table of MW-117 runs with the fixtures."""

import pytest

from norma.adapters.http.policy import NetworkPolicy
from norma.adapters.http.proxy import CgiRefused, ProxyRefused, parse_proxy, proxy_for, shown

P = "http://p.test:3128"


@pytest.mark.parametrize(
    ("no_proxy", "url", "exempt"),
    [
        ("a.test", "http://a.test/", True),
        ("a.test", "http://b.a.test/", True),
        ("a.test", "http://ba.test/", False),
        ("A.Test", "http://a.TEST/", True),
        (".a.test", "http://a.test/", False),
        (".a.test:80", "http://b.a.test/", True),
        ("*.a.test:81", "http://b.a.test/", False),
        ("*", "http://any.test/", True),
        ("x,*", "http://any.test/", True),
        ("::1", "http://[2001:db8::1]/", False),
        ("2001:db8::1", "http://[2001:db8::1]:9/", True),
        ("[2001:db8::1]:9", "http://[2001:db8::1]:9/", True),
        ("[2001:db8::1]:9", "http://[2001:db8::1]:8/", False),
        ("2001:db8::/32", "http://[2001:db8:7::1]/", True),
        ("10.0.0.0/8", "http://ten.test/", False),
        ("10.1.2.3", "http://10.1.2.3:8/", True),
        ("10.1.2.3", "http://[::ffff:10.1.2.3]/", True),
        (":80", "http://a.test/", False),
        (" , ,", "http://a.test/", False),
        ("münchen.test", "http://xn--mnchen-3ya.test/", True),
        ("xn--mnchen-3ya.test", "http://münchen.test/", True),
    ],
)
def test_N2_no_proxy_is_read_as_go_reads_it(no_proxy: str, url: str, exempt: bool) -> None:
    assert proxy_for(url, {"HTTP_PROXY": P, "NO_PROXY": no_proxy}) == (None if exempt else P)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_N2_loopback_never_goes_through_an_environment_proxy(host: str) -> None:
    assert proxy_for(f"http://{host}/", {"HTTP_PROXY": P}) is None


def test_N2_each_scheme_has_its_variable_and_upper_case_comes_first() -> None:
    assert proxy_for("https://a.test/", {"HTTP_PROXY": P}) is None
    assert proxy_for("https://a.test/", {"HTTPS_PROXY": P}) == P
    assert proxy_for("http://a.test/", {"http_proxy": "http://low.test", "HTTP_PROXY": P}) == P
    assert (
        proxy_for("http://a.test/", {"http_proxy": "http://low.test", "HTTP_PROXY": ""}) == "http://low.test"
    )
    assert proxy_for("http://a.test/", {"ALL_PROXY": P}) is None


def test_N2_a_proxy_without_a_scheme_is_http() -> None:
    assert parse_proxy("p.test:3128") == P
    assert parse_proxy("localhost:3128") == "http://localhost:3128"
    assert parse_proxy("user:pw@p.test") == "http://user:pw@p.test"


@pytest.mark.parametrize(
    "value", ["socks5://p.test:1", "ftp://p.test", "http://", "http://p.test:99999", "http://[::1"]
)
def test_N2_another_proxy_is_a_clear_error(value: str) -> None:
    with pytest.raises(ProxyRefused, match=r"http://host:port|only http and https"):
        proxy_for("http://a.test/", {"HTTP_PROXY": value})
    with pytest.raises(ValueError, match=r"network\.proxy"):
        NetworkPolicy(proxy=value)


def test_N3_http_is_refused_in_a_cgi_process_before_anything_else_is_looked_at() -> None:
    cgi = {"REQUEST_METHOD": "GET", "HTTP_PROXY": P, "HTTPS_PROXY": P, "NO_PROXY": "*"}
    for url in ("http://a.test/", "http://127.0.0.1/", "http://localhost/"):
        with pytest.raises(CgiRefused, match="REQUEST_METHOD"):
            proxy_for(url, cgi)
    assert proxy_for("https://a.test/", cgi | {"NO_PROXY": ""}) == P
    assert proxy_for("http://a.test/", {"REQUEST_METHOD": "GET"}) is None
    assert proxy_for("http://a.test/", {"REQUEST_METHOD": "", "HTTP_PROXY": P}) == P
    with pytest.raises(CgiRefused):
        proxy_for("http://a.test/", {"REQUEST_METHOD": "GET", "http_proxy": P})


def test_N5_a_proxy_is_shown_without_its_credentials() -> None:
    assert shown("http://user:secret@p.test:3128") == P
    assert "secret" not in repr(NetworkPolicy(proxy="http://user:secret@p.test"))
    with pytest.raises(ProxyRefused) as refused:
        parse_proxy("socks5://user:secret@p.test")
    assert "secret" not in str(refused.value)
