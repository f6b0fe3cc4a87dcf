"""Names that are almost right, words that are almost the same, refusals that say what would do."""

from __future__ import annotations

import httpx
import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.errors import Forbidden, NotFound
from governance.wire import Role


@pytest.fixture(scope="module")
def shop(empty_service: Service, manifest: Manifest) -> Service:
    for name in ("shop.orders.find", "shop.orders.refund", "meteo.facture", "hidden.orders.find"):
        empty_service.admin.put_version(manifest(name, description=f"Use to {name.rpartition('.')[2]} one."))
    return empty_service


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("shop.orders.fnd", "shop.orders.find"),
        ("shop.order.find", "shop.orders.find"),
        ("refnd", "shop.orders.refund"),
        ("shop.orders.finds", "shop.orders.find"),
    ],
)
def test_a_name_that_is_almost_right_is_answered_with_the_right_one(shop: Service, wrong: str, near: str) -> None:
    admin = shop.admin
    for ask in (admin.get_skill, admin.versions, lambda name: admin.get_version(name, "1.0.0"), admin.resolve):
        with pytest.raises(NotFound) as caught:
            ask(wrong)
        assert near in caught.value.details["near"]
        assert near in caught.value.fix


def test_a_name_that_the_token_may_not_see_is_never_offered(shop: Service) -> None:
    with shop.client(Role.VIEWER, "shop") as viewer, pytest.raises(NotFound) as caught:
        viewer.get_skill("shop.order.find")
    assert "hidden.orders.find" not in caught.value.fix
    assert "shop.orders.find" in caught.value.fix


def test_a_name_like_none_is_answered_without_one(shop: Service) -> None:
    with pytest.raises(NotFound) as caught:
        shop.admin.get_skill("quite.another_thing")
    assert caught.value.details.get("near") is None


@pytest.mark.parametrize(
    ("words", "found"),
    [("refunds", "shop.orders.refund"), ("factures", "meteo.facture"), ("refu", "shop.orders.refund")],
)
def test_a_longer_form_of_a_word_finds_it_and_a_part_of_it_too(shop: Service, words: str, found: str) -> None:
    assert [card.name for card in shop.admin.list_skills(text=words).items] == [found]


def test_a_longer_form_finds_whole_words_alone(shop: Service) -> None:
    assert shop.admin.list_skills(text="orderly").items == []
    assert shop.admin.list_skills(text="factu.es").items == []


def test_problems_inside_a_batch_carry_the_ids_of_the_request_and_leave_the_etag_alone(shop: Service) -> None:
    questions = {"questions": [{"skill": "shop.orders.find"}, {"skill": "no.such"}]}
    answers = []
    with shop.http(shop.serving.token) as http:
        for identity in ("one", "two"):
            answer = http.post("/v1/resolve", json=questions, headers={"X-Request-Id": identity})
            problem = answer.json()["results"][1]["problem"]
            assert problem["request_id"] == answer.headers["x-request-id"] == identity
            assert problem["trace_id"] == answer.headers["x-trace-id"]
            answers.append(answer)
    assert answers[0].headers["etag"] == answers[1].headers["etag"]


@pytest.mark.parametrize(("kind", "status"), [("application/yaml", 415), ("application/json", 400)])
def test_a_body_that_is_no_json_is_told_what_the_route_takes(shop: Service, kind: str, status: int) -> None:
    with shop.http(shop.serving.token) as http:
        answer: httpx.Response = http.put(
            "/v1/skills/shop.orders.find/versions/2.0.0",
            content=b"name: shop.orders.find\n",
            headers={"content-type": kind},
        )
    assert answer.status_code == status
    assert "JSON alone" in answer.json()["fix"]
    assert "govctl publish" in answer.json()["fix"]


def test_a_refusal_says_in_words_what_the_token_may_not_do(shop: Service) -> None:
    with shop.client(Role.VIEWER) as viewer:
        for ask, words in ((lambda plane: plane.tokens(), "administer in any namespace"), (_check, "checked")):
            with pytest.raises(Forbidden, match=words):
                ask(viewer)


def _check(plane: ControlPlane) -> object:
    return plane.check([{"name": "shop.orders.find", "version": "1.0.0"}])
