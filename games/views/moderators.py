"""The moderators' pages: the queue, a case, acts, appeals and the log."""

import time
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import suspend_request
from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from accounts.buttons import button_of
from accounts.models import FOREVER, Role, User
from games import gauges
from games.models import Act, Appeal, Case, Game, Reason, Room, What
from games.moderation import acts, appeals, cases, looking, roles, sides, undoing
from games.moderation.acts import Why
from games.moderation.forms import ActForm, AtTheTableForm, DecideForm, GameActForm, RoleForm, RoomActForm
from games.moderation.previews import previews_of

PAGE = 50
AGAIN_SECONDS = 5 * 60

View = Callable[..., HttpResponse]


def moderators_only(view: View) -> View:
    """For whoever looks after the site; their second factor is asked for before they get this far."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not isinstance(request.user, User) or not roles.is_moderator(request.user):
            raise PermissionDenied
        return view(request, request.user, *args, **kwargs)

    return never_cache(login_required(wrapped))


def proved_again(request: HttpRequest) -> bool:
    """Whether this session has just shown a second factor again; the sign-in itself does not count."""
    records = get_authentication_records(request, request.user)
    return any(
        record.get("reauthenticated") and record["method"] == "mfa" and time.time() - record["at"] < AGAIN_SECONDS
        for record in records
    )


def prove_again(request: HttpRequest) -> HttpResponse:
    """Ask for the code or the passkey, then go on with what was asked for."""
    has_app = Authenticator.objects.filter(user=request.user.pk, type=Authenticator.Type.TOTP).exists()
    page = "mfa_reauthenticate" if has_app else "mfa_reauthenticate_webauthn"
    asked: HttpResponse = suspend_request(request, reverse(page))
    return asked


def say_why(request: HttpRequest, refused: ValidationError) -> None:
    messages.error(request, " ".join(refused.messages))


@require_safe
@moderators_only
def queue(request: HttpRequest, me: User) -> HttpResponse:
    """What waits, refreshed while one looks at it."""
    after = request.GET.get("after", "")
    shown = cases.queue(after)
    rows = [(case, cases.is_free(case, me)) for case in shown.rows]
    context = {"rows": rows, "more": shown.more, "after": after, "me": me, "waiting_appeals": appeals.how_many()}
    fragment = bool(getattr(request, "htmx", False))
    return render(request, "games/moderation/_queue.html" if fragment else "games/moderation/queue.html", context)


@require_safe
@moderators_only
def case(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    """A case; as a fragment, who works on it by now, and the whole page anew once that is somebody else."""
    found = get_object_or_404(Case.objects.select_related("about", "claimed_by"), pk=pk)
    if not getattr(request, "htmx", False):
        return _case_page(request, me, found)
    if request.GET.get("mine") != ("yes" if _is_mine(found, me) else "no"):
        return HttpResponseClientRefresh()
    state = _state_of(found, me)
    # Nobody loses what they are just writing for a report that has come in.
    more = not state["involved"] and request.GET.get("last") != str(_latest_report(found))
    return render(request, "games/moderation/_case_state.html", {**state, "more": more})


def _latest_report(found: Case) -> int:
    """The number that a form for this case has by now."""
    latest = found.reports.order_by("-pk").values_list("pk", flat=True).first()
    return latest or 0


def _is_mine(shown: Case, me: User) -> bool:
    return shown.claimed_by_id == me.pk and not shown.decided


def _state_of(shown: Case, me: User) -> dict[str, object]:
    return {
        "case": shown,
        "mine": _is_mine(shown, me),
        "free": cases.is_free(shown, me),
        "involved": sides.is_involved(shown, me),
    }


def _case_page(
    request: HttpRequest,
    me: User,
    shown: Case,
    form: ActForm | None = None,
    decide_form: DecideForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The whole case; whoever has a side in it sees how it stands and no word of who said what."""
    state = _state_of(shown, me)
    if state["involved"]:
        return render(request, "games/moderation/case.html", state, status=status)
    context = {
        **state,
        "form": form or ActForm(),
        "decide_form": decide_form or _decide_form(shown),
        **cases.evidence(shown),
    }
    return render(request, "games/moderation/case.html", context, status=status)


@button_of("games:case", "pk")
@moderators_only
def claim(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    found = get_object_or_404(Case, pk=pk)
    try:
        cases.claim(found, me)
    except ValidationError as refused:
        say_why(request, refused)
    return redirect("games:case", pk)


@button_of("games:case", "pk")
@moderators_only
def release(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    cases.release(get_object_or_404(Case, pk=pk), me)
    return redirect("games:moderation")


@button_of("games:case", "pk")
@moderators_only
def decide(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    found = get_object_or_404(Case.objects.select_related("about", "claimed_by"), pk=pk)
    form = _decide_form(found, request.POST)
    if not form.is_valid():
        return _case_page(request, me, found, decide_form=form, status=422)
    try:
        cases.decide(found, me, form.verdicts(), form.cleaned_data["words"])
    except ValidationError as refused:
        say_why(request, refused)
        return redirect("games:case", pk)
    messages.success(request, gettext("Decided. Whoever reported has a letter."))
    return redirect("games:moderation")


def _decide_form(shown: Case, said: QueryDict | None = None) -> DecideForm:
    return DecideForm(said, reports=list(shown.reports.select_related("reporter")))


@button_of("games:case", "pk")
@moderators_only
def act_in_case(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    found = get_object_or_404(Case.objects.select_related("about", "claimed_by"), pk=pk)
    form = ActForm(request.POST)
    return _act(request, me, form, found.about, found) or _case_page(request, me, found, form, status=422)


@moderators_only
def person(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    """Somebody as moderators see them, and what can be done without a case."""
    found = get_object_or_404(User, pk=pk)
    form = ActForm(request.POST or None)
    if request.method == "POST" and (done := _act(request, me, form, found, None)):
        return done
    return _person_page(request, me, found, form)


def _person_page(
    request: HttpRequest, me: User, found: User, form: ActForm | None = None, role_form: RoleForm | None = None
) -> HttpResponse:
    context = {
        "person": found,
        "form": form or ActForm(),
        "role_form": role_form or RoleForm(initial={"role": found.role}),
        "gives_roles": roles.is_administrator(me) and me.pk != found.pk and not found.is_guest,
        "acts": _latest(Act.objects.filter(person=found)),
        "cases": Case.objects.filter(about=found).order_by("-opened")[:PAGE],
        "games": Game.objects.filter(seats__user=found).prefetch_related("seats__user").order_by("-pk")[:20],
        "shared": cases.shared_addresses(found),
    }
    return render(request, "games/moderation/person.html", context, status=422 if request.method == "POST" else 200)


@button_of("games:moderated_person", "pk")
@moderators_only
def role(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    """Give or take a role: for administrators, who prove again who they are."""
    if not roles.is_administrator(me):
        raise PermissionDenied
    found, form = get_object_or_404(User, pk=pk), RoleForm(request.POST)
    if not form.is_valid():
        return _person_page(request, me, found, role_form=form)
    if not proved_again(request):
        return prove_again(request)
    said = form.cleaned_data
    try:
        acts.give_role(me, found, Role(said["role"]), Why(Reason.OTHER, said["words"]))
    except ValidationError as refused:
        form.add_error(None, refused)
        return _person_page(request, me, found, role_form=form)
    messages.success(request, gettext("Done, and written down."))
    return redirect("games:moderated_person", pk)


def _is_grave(what: str, hours: int | None) -> bool:
    """Whether a stolen session must not do it: a suspension, a name taken away, anything for good."""
    return what in (What.SUSPEND, What.RENAME) or (what in (What.MUTE, What.BAR) and hours == 0)


def _act(request: HttpRequest, me: User, form: ActForm, about: User, within: Case | None) -> HttpResponse | None:
    """Do what the form says; None where it cannot be done, and the form says why."""
    if not form.is_valid():
        return None
    said = form.cleaned_data
    if _is_grave(said["what"], said["hours"]) and not proved_again(request):
        return prove_again(request)
    why = Why(said["reason"], said["words"], within)
    until = form.until() or FOREVER
    doing: dict[str, Callable[[], Any]] = {
        What.WARN: lambda: acts.warn(me, about, why),
        What.MUTE: lambda: acts.mute(me, about, until, why),
        What.BAR: lambda: acts.bar(me, about, until, why),
        What.SUSPEND: lambda: acts.suspend(me, about, until, why),
        What.RENAME: lambda: acts.rename(me, about, why),
        What.FORGIVE: lambda: acts.forgive(me, about, why),
    }
    try:
        doing[said["what"]]()
    except ValidationError as refused:
        form.add_error(None, refused)
        return None
    messages.success(request, gettext("Done, and written down."))
    return redirect("games:case", within.pk) if within else redirect("games:moderated_person", about.pk)


@moderators_only
def game(request: HttpRequest, me: User, code: str) -> HttpResponse:
    """One game as moderators see it: who sits there, and how to end it or take somebody out."""
    found = get_object_or_404(Game, code=code)
    people = _people_of_game(found)
    form = GameActForm(request.POST or None, game=found, people=people)
    if form.is_valid() and form.cleaned_data["what"] == What.END_GAME and not proved_again(request):
        return prove_again(request)

    def do(what: str, person: User | None, why: Why) -> object:
        if what == What.REMOVE and person is not None:
            return acts.remove_from_game(me, found, person, why)
        if what == What.VOID_GAME:
            return acts.void_game(me, found, why)
        return acts.watch(me, found, why) if what == What.WATCH else acts.end_game(me, found, why)

    if _done(request, form, people, do):
        return redirect("games:game" if form.cleaned_data["what"] == What.WATCH else "games:moderated_game", code)
    history = _latest(Act.objects.filter(game=found))
    context = {"game": found, "people": people, "form": form, "acts": history}
    return render(request, "games/moderation/game.html", context, status=422 if form.is_bound else 200)


@moderators_only
def room(request: HttpRequest, me: User, code: str) -> HttpResponse:
    """One room as moderators see it."""
    found = get_object_or_404(Room.objects.select_related("owner"), code=code)
    people = _people_of_room(found)
    form = RoomActForm(request.POST or None, room=found, people=people)

    def do(what: str, person: User | None, why: Why) -> object:
        if what == What.CLOSE_ROOM or person is None:
            return acts.close_room(me, found, why)
        return (acts.remove_from_room if what == What.REMOVE else acts.hand_over)(me, found, person, why)

    if _done(request, form, people, do):
        return redirect("games:moderated_room", code)
    context = {
        "room": found,
        "people": people,
        "form": form,
        "games": Game.objects.filter(room=found).prefetch_related("seats__user").order_by("-pk")[:20],
        "acts": _latest(Act.objects.filter(room=code)),
    }
    return render(request, "games/moderation/room.html", context, status=422 if form.is_bound else 200)


def _people_of_game(found: Game) -> list[User]:
    return [seat.user for seat in found.seats.select_related("user").order_by("number") if seat.user]


def _people_of_room(found: Room) -> list[User]:
    return [seat.user for seat in found.seats.select_related("user").order_by("number") if seat.user]


# The letter before it goes --------------------------------------------------------------------------------------------


@require_POST
@moderators_only
def person_letter(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    """The letter that the form about a person would send as it is filled in now. It changes nothing."""
    found, form = get_object_or_404(User, pk=pk), ActForm(request.POST)
    said = filled(form)
    facts: dict[str, Any] = {"person": found, "until": form.until()}
    if said["what"] == What.RENAME:
        facts["before"] = {"name": found.name}
    return preview(request, Act(by=me, **said, **facts))


@require_POST
@moderators_only
def role_letter(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    """The same for the form about a person's role, where it is another than theirs."""
    if not roles.is_administrator(me):
        raise PermissionDenied
    found = get_object_or_404(User, pk=pk)
    said = filled(RoleForm(request.POST), "role", "words")
    what = What.ROLE if said["role"] and said["role"] != found.role else ""
    act = Act(by=me, person=found, what=what, words=said["words"], reason=Reason.OTHER, after={"role": said["role"]})
    return preview(request, act)


@require_POST
@moderators_only
def game_letter(request: HttpRequest, me: User, code: str) -> HttpResponse:
    """The same for the form about a game."""
    found = get_object_or_404(Game, code=code)
    people = _people_of_game(found)
    form = GameActForm(request.POST, game=found, people=people)
    said = filled(form)
    person = _chosen(form, people) if said["what"] == What.REMOVE else None
    return preview(request, Act(by=me, game=found, person=person, **said), people)


@require_POST
@moderators_only
def room_letter(request: HttpRequest, me: User, code: str) -> HttpResponse:
    """The same for the form about a room."""
    found = get_object_or_404(Room.objects.select_related("owner"), code=code)
    people = _people_of_room(found)
    form = RoomActForm(request.POST, room=found, people=people)
    said = filled(form)
    chosen = _chosen(form, people)
    after = {"owner": chosen.pk} if chosen and said["what"] == What.HAND_OVER else {}
    person = chosen if said["what"] == What.REMOVE else found.owner
    return preview(request, Act(by=me, room=found.code, person=person, after=after, **said), people)


def filled(form: Form, *names: str) -> dict[str, str]:
    """What a form says so far in these fields, else of an act; empty where nothing valid is said yet."""
    form.is_valid()
    return {name: form.cleaned_data.get(name) or "" for name in names or ("what", "reason", "words")}


def _chosen(form: AtTheTableForm, people: list[User]) -> User | None:
    return next((one for one in people if one.pk == form.cleaned_data.get("person")), None)


def preview(request: HttpRequest, act: Act, people: Sequence[User] = ()) -> HttpResponse:
    """The letters about this act, which is not stored; without an act, the word that one is to be chosen."""
    context = {"act": act, "previews": previews_of(act, people) if act.what else []}
    return render(request, "games/moderation/_preview.html", context)


def _latest(rows: QuerySet[Act]) -> QuerySet[Act]:
    """What a page lists of the log of acts."""
    told = rows.select_related("by", "person", "game", "undone_by", "undoes").prefetch_related("game__seats__user")
    return told.order_by("-at")[:PAGE]


def _done(
    request: HttpRequest, form: AtTheTableForm, people: list[User], do: Callable[[str, User | None, Why], object]
) -> bool:
    """Do what the form says; False where there is nothing to do, or the form says why not."""
    if not form.is_valid():
        return False
    said = form.cleaned_data
    try:
        do(
            said["what"],
            next((one for one in people if one.pk == said["person"]), None),
            Why(said["reason"], said["words"]),
        )
    except ValidationError as refused:
        form.add_error(None, refused)
        return False
    messages.success(request, gettext("Done, and written down."))
    return True


@require_safe
@moderators_only
def log(request: HttpRequest, me: User) -> HttpResponse:
    """Everything that was ever done, the latest first, page by page along the numbers."""
    rows = Act.objects.select_related("by", "person", "game", "undone_by", "undoes")
    rows = rows.prefetch_related("game__seats__user").order_by("-pk")
    shown = list(_before(request, rows)[: PAGE + 1])
    more = shown[PAGE - 1].pk if len(shown) > PAGE else None
    return render(request, "games/moderation/log.html", {"acts": shown[:PAGE], "more": more})


def _before(request: HttpRequest, rows: QuerySet[Act]) -> QuerySet[Act]:
    said = request.GET.get("before", "")
    return rows.filter(pk__lt=int(said)) if said.isdecimal() and len(said) < 19 else rows


@button_of("games:acts")
@moderators_only
def undo(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    found = get_object_or_404(Act.objects.select_related("person", "game", "case"), pk=pk)
    if found.what == What.ROLE and not proved_again(request):
        return prove_again(request)
    try:
        undoing.undo(found, me, request.POST.get("words", "")[:1000])
    except ValidationError as refused:
        say_why(request, refused)
    else:
        messages.success(request, gettext("Undone, and written down."))
    return redirect(_page_of(found))


def _page_of(act: Act) -> str:
    """Where moderators see what an act is about."""
    if act.game is not None:
        return reverse("games:moderated_game", args=[act.game.code])
    if act.room:
        return reverse("games:moderated_room", args=[act.room])
    return reverse("games:moderated_person", args=[act.person_id]) if act.person_id else reverse("games:acts")


@require_safe
@moderators_only
def appeal_list(request: HttpRequest, me: User) -> HttpResponse:
    shown = appeals.open_ones(request.GET.get("after", ""))
    rows = [(waiting, waiting.act.by_id != me.pk) for waiting in shown.rows]
    return render(request, "games/moderation/appeals.html", {"rows": rows, "more": shown.more})


@button_of("games:appeals")
@moderators_only
def decide_appeal(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    waiting = get_object_or_404(Appeal, pk=pk)
    granted = request.POST.get("granted") == "yes"
    try:
        appeals.decide(waiting, me, granted=granted, answer=request.POST.get("answer", "")[:1000])
    except ValidationError as refused:
        say_why(request, refused)
    else:
        messages.success(request, gettext("Decided. The person has a letter."))
    return redirect("games:appeals")


@require_safe
@moderators_only
def figures(request: HttpRequest, me: User) -> HttpResponse:
    """How the site does, for administrators."""
    if not roles.is_administrator(me):
        raise PermissionDenied
    fragment = bool(getattr(request, "htmx", False))
    name = "games/moderation/_figures.html" if fragment else "games/moderation/figures.html"
    return render(request, name, {"charts": gauges.charts(gauges.samples())})


@require_safe
@moderators_only
def signs(request: HttpRequest, me: User, pk: int) -> HttpResponse:
    """What may be foul about somebody's play: fetched by their page when it stands, as it takes a moment. Nobody reads
    signs that name themselves."""
    about = get_object_or_404(User, pk=pk)
    if about.pk == me.pk:
        raise PermissionDenied
    results = looking.ranked_results()
    pairs = [(other, said) for other, said in looking.pairs_of(about, results) if other.pk != me.pk]
    context = {"signs": looking.signs_of(about, results), "pairs": pairs}
    return render(request, "games/moderation/_signs.html", context)


@require_safe
@moderators_only
def raised(request: HttpRequest, me: User) -> HttpResponse:
    """In whose last games signs were raised, so that nobody has to come upon them by chance."""
    return render(request, "games/moderation/raised.html", {"rows": looking.standing_out(me)})
