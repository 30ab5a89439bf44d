"""The letters that an act would send, before it is done. Nothing here is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as say

from accounts.models import User
from games.models import Act, Letter, What
from games.moderation.statements import Statement, is_told, statement_of


@dataclass(frozen=True, slots=True)
class Preview:
    """A letter as its readers would have it, and who they are."""

    to: str
    statement: Statement


def previews_of(act: Act, people: Sequence[User] = ()) -> list[Preview]:
    """The letters about this act, which is not stored, to its person and to the others at that table or in that
    room."""
    if act.what in (What.END_GAME, What.VOID_GAME):
        return [_to(say("Everybody at the table"), one, act) for one in people[:1]]
    found = []
    if act.person is not None and is_told(act.what):
        found.append(_to(act.person.name, act.person, act))
    if act.what not in (What.CLOSE_ROOM, What.HAND_OVER):
        return found
    others = [one for one in people if one.pk != act.person_id]
    found += [_to(one.name, one, act) for one in others if one.pk == act.after.get("owner")]
    rest = [one for one in others if one.pk != act.after.get("owner")]
    return [*found, *(_to(say("Everybody else in the room"), one, act) for one in rest[:1])]


def _to(readers: str, one: User, act: Act) -> Preview:
    letter = Letter(person=one, kind=Letter.Kind.ACT, act=act, at=timezone.now())
    return Preview(readers, statement_of(letter))
