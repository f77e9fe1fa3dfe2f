"""Redirects: every hop judged before it is requested, ten at most (F5, F6, F7)."""

from typing import Any

import pytest

from norma.adapters.http.guard import AddressGuard
from norma.ports.errors import Refused
from norma.ports.page_fetch import FetchFailed
from tests.rigs.web import OURS, Hostile, fetcher

BOTH = ("127.0.0.1/32", "127.0.0.2/32")


class CountingGuard(AddressGuard):
    """Counts how often a host was judged by the URL policy."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.judged: list[str] = []

    def check_host(self, host: str) -> None:
        self.judged.append(host)
        super().check_host(host)


@pytest.mark.parametrize("hops", range(12))
async def test_F6_as_many_judgements_as_requests_in_chains(hostile: Hostile, hops: int) -> None:
    guard = CountingGuard(OURS)
    async with fetcher(guard=guard) as fetch:
        if hops <= 10:
            page = await fetch.get(f"{hostile.a}/chain/{hops}")
            assert page.status == 200
            assert len(page.hops) == hops
        else:
            with pytest.raises(FetchFailed, match="more than 10 redirects"):
                await fetch.get(f"{hostile.a}/chain/{hops}")
    requests = hostile.targets()
    assert len(requests) == min(hops, 10) + 1
    # The egress judges each request once more, and `get` takes the URL apart once before.
    assert len(guard.judged) == 2 * len(requests) + 1


@pytest.mark.parametrize("path", ["/loop", "/cookie-wall"])
async def test_F6_a_loop_ends_with_the_count_and_the_last_url(hostile: Hostile, path: str) -> None:
    async with fetcher() as fetch:
        with pytest.raises(FetchFailed) as caught:
            await fetch.get(hostile.a + path)
    assert "10" in str(caught.value)
    assert hostile.a + path in str(caught.value)
    assert len(hostile.targets()) == 11


@pytest.mark.parametrize(
    "path",
    ["/to-b", "/two-step", "/redir-body-secret", "/redir-schemeless", "/redir-backslash",
     *(f"/redir?code={code}&to=%s" for code in (301, 302, 303, 307, 308))],
)  # fmt: skip
async def test_F6_F7_a_hop_to_a_refused_address_is_never_requested(hostile: Hostile, path: str) -> None:
    path = path.replace("%s", f"{hostile.b}/secret")
    async with fetcher() as fetch:
        with pytest.raises(Refused) as caught:
            await fetch.get(hostile.a + path)
    assert f"{hostile.b}/secret" in str(caught.value)
    assert "body of the redirect" not in str(caught.value)
    assert {row[0] for row in hostile.log()} == {"127.0.0.1"}
    assert fetch.hops == [], "nobody is asked about what is refused in any case"


async def test_F7_a_hop_to_cloud_metadata_is_refused(hostile: Hostile) -> None:
    async with fetcher() as fetch:
        with pytest.raises(Refused, match="cloud metadata"):
            await fetch.get(f"{hostile.a}/redir?to=http://169.254.169.254/latest/meta-data/")


@pytest.mark.parametrize("path", ["/to-b", "/two-step", "/redir-schemeless", "/redir-backslash"])
async def test_F6_another_host_is_asked_about_once_before_its_request(hostile: Hostile, path: str) -> None:
    async with fetcher(allow=BOTH) as fetch:
        page = await fetch.get(hostile.a + path)
    assert "INTERNAL-SECRET-TOKEN" in page.markdown
    assert page.url == f"{hostile.b}/secret"
    assert [url.host for url in fetch.hops] == ["127.0.0.2"]


async def test_F6_a_hop_that_nobody_allows_stops_and_shows_the_new_url(hostile: Hostile) -> None:
    async with fetcher(allow=BOTH, denied=["127.0.0.2"]) as fetch:
        with pytest.raises(Refused) as caught:
            await fetch.get(f"{hostile.a}/two-step")
    assert f"{hostile.b}/secret" in str(caught.value)
    assert "no rule allows" in str(caught.value)
    assert hostile.targets() == ["/two-step", "/to-b"]


async def test_F6_a_hop_on_the_same_host_belongs_to_the_call(hostile: Hostile) -> None:
    async with fetcher() as fetch:
        await fetch.get(f"{hostile.a}/chain/3")
    assert fetch.hops == []


@pytest.mark.parametrize("scheme", ["file", "data", "ftp", "js", "ws"])
async def test_F5_F6_a_hop_to_another_scheme_is_refused_by_name(hostile: Hostile, scheme: str) -> None:
    async with fetcher() as fetch:
        with pytest.raises(Refused) as caught:
            await fetch.get(f"{hostile.a}/redir-scheme/{scheme}")
    assert {"js": "javascript"}.get(scheme, scheme) in str(caught.value)


async def test_F6_a_redirect_without_location_is_shown_as_it_is(hostile: Hostile) -> None:
    async with fetcher() as fetch:
        page = await fetch.get(f"{hostile.a}/redir-noloc")
    assert (page.status, page.markdown) == (302, "where")
    assert page.notes


async def test_F6_two_locations_are_refused(hostile: Hostile) -> None:
    async with fetcher(allow=BOTH) as fetch:
        with pytest.raises(Refused, match="2 addresses"):
            await fetch.get(f"{hostile.a}/redir-two-loc")
    assert hostile.targets() == ["/redir-two-loc"]


async def test_F6_bytes_in_a_location_are_escaped(hostile: Hostile) -> None:
    async with fetcher() as fetch:
        await fetch.get(f"{hostile.a}/redir-utf8")
    assert hostile.targets()[1] == "/%ED%95%9C%EA%B8%80?q=a%20b"


@pytest.mark.parametrize(
    ("path", "ends"),
    [("/redir-fragment#x", "/ok#part-2"), ("/chain/1#kept", "/chain/0#kept"), ("/ok#own", "/ok#own")],
)
async def test_F6_fragments_are_never_sent_and_inherited(hostile: Hostile, path: str, ends: str) -> None:
    async with fetcher() as fetch:
        page = await fetch.get(hostile.a + path)
    assert page.url == hostile.a + ends
    assert not [target for target in hostile.targets() if "#" in target]


async def test_F1_F6_no_credential_and_no_cookie_goes_anywhere(hostile: Hostile) -> None:
    async with fetcher() as fetch:
        await fetch.get(f"{hostile.a}/set-cookie")
        page = await fetch.get(f"{hostile.a}/redir-userinfo")
        await fetch.get(hostile.a.replace("://", "://alice:canary-77@") + "/echo")
    assert page.status == 200
    assert any("credentials" in note for note in page.notes)
    for row in hostile.log():
        names = {name.lower() for name, _ in row[3]}
        assert not names & {"cookie", "authorization", "proxy-authorization"}
        assert "canary-77" not in str(row)


async def test_F1_the_user_agent_is_ours_or_the_one_that_was_set(hostile: Hostile) -> None:
    async with fetcher() as fetch:
        await fetch.get(f"{hostile.a}/ok")
    async with fetcher(user_agent="else/2") as fetch:
        await fetch.get(f"{hostile.a}/ok")
    agents = [dict(row[3])["User-Agent"] for row in hostile.log()]
    assert agents == ["norma/0.4", "else/2"]


@pytest.mark.parametrize(
    "name", ["a.png", "x/y.SVG?q=1", "f.zip#z", "a.tar.gz", "m.wasm", "app.js.map", "v.mp4;x", "i.p%6Eg"]
)
async def test_F5_static_assets_are_refused_before_any_call(hostile: Hostile, name: str) -> None:
    async with fetcher() as fetch:
        with pytest.raises(Refused, match="static asset"):
            await fetch.get(f"{hostile.a}/{name}")
        with pytest.raises(Refused, match="static asset"):
            await fetch.get(f"{hostile.a}/redir?to=/{name.partition('#')[0].partition('?')[0]}")
    assert len(hostile.targets()) == 1


@pytest.mark.parametrize(
    "name", ["a.js", "b.css", "c.pdf", "d.json", "e.xml", "f.txt", "image.png.html", "png", "a.zip/"]
)
async def test_F5_what_can_be_read_is_fetched(hostile: Hostile, name: str) -> None:
    async with fetcher() as fetch:
        assert (await fetch.get(f"{hostile.a}/{name}")).status == 404
