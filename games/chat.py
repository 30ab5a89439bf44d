"""Talk beside the board: ready sentences that everybody reads in their language, and words from accounts that may.

A channel belongs to one game or room; in it players and watchers speak apart, so that nobody helps from outside.
Whoever has it open hears the doorbell ring and fetches what is new: nothing that was said travels with the ring.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from games import links, news
from games.models import Game, Ignored, Message, Room, RoomSeat, Seat
from games.models.talk import MOST_LETTERS

PRESETS: dict[str, str | Promise] = {
    "hello": _("Good evening!"),
    "luck": _("Good luck!"),
    "moment": _("One moment, please."),
    "ready": _("I am ready."),
    "nice": _("Nicely done!"),
    "ouch": _("Ouch!"),
    "thanks": _("Thank you!"),
    "sorry": _("Sorry!"),
    "game": _("Good game!"),
    "again": _("Another one?"),
}
SHOWN = 60
KEPT = timedelta(days=30)
# So many things within so long, and not the same words again so soon.
MOST, WITHIN = 5, timedelta(seconds=10)
SAME_AGAIN = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody stands in a channel: what they may read and to whom they speak."""

    channel: str
    audience: Message.Audience
    game: Game | None = None
    room: Room | None = None

    @property
    def group(self) -> str:
        return _group(self.channel, self.audience)


def _group(channel: str, audience: str) -> str:
    return f"talk.{channel}.{audience}"


def channel_of(game: Game) -> str:
    return f"g-{game.code}"


def channel_of_room(room: Room) -> str:
    return f"r-{room.code}"


def place_of(channel: str, person_id: int | None) -> Place | None:
    """Where this person stands in that channel; None where there is none."""
    kind, _dash, code = channel.partition("-")
    game = Game.objects.filter(code=code).first() if kind == "g" else None
    room = Room.objects.filter(code=code).first() if kind == "r" else None
    if game is None and room is None:
        return None
    place = Place(channel, Message.Audience.WATCHERS, game, room)
    plays = person_id is not None and person_id in (one.pk for one in people_at(place))
    return replace(place, audience=Message.Audience.PLAYERS) if plays else place


def people_at(place: Place) -> list[User]:
    """Who sits at the game or in the room of a channel, in the order of the seats."""
    if place.game is not None:
        sat = Seat.objects.filter(game=place.game).select_related("user").order_by("number")
        return [seat.user for seat in sat if seat.user]
    sits = RoomSeat.objects.filter(room=place.room).select_related("user").order_by("number")
    return [seat.user for seat in sits if seat.user]


def speakers(place: Place) -> list[User]:
    """Who said what can be read there, whether somebody wants to hear them or not."""
    said = _said(place).order_by("-id")[:SHOWN]
    return list(User.objects.filter(pk__in=said.values("author")).order_by("name"))


def may_write_freely(person: User) -> bool:
    """Whether this person may say more than the ready sentences."""
    return not person.is_guest and not person.is_muted


def say(person: User, place: Place, *, preset: str = "", words: str = "") -> Message:
    """Say something; ValidationError where it is held back. Beside a ready sentence words are nothing."""
    words = "" if preset else _as_read(words)
    with transaction.atomic():
        # One message of a person at a time: what is counted is still true when the message is written. Rows that refer
        # to the person are not locked out.
        User.objects.select_for_update(no_key=True).only("pk").get(pk=person.pk)
        _refuse(person, preset, words)
        message = Message.objects.create(
            channel=place.channel, audience=place.audience, author=person, preset=preset, words=words
        )
        news.ring_on_commit(place.group)
    return message


def _as_read(words: str) -> str:
    """The words as others are to see them; too many are refused before anything looks at them."""
    words = links.fold(words)
    if len(words) > MOST_LETTERS:
        raise ValidationError(
            _("That is too long: %(most)d characters at most."), code="chat_long", params={"most": MOST_LETTERS}
        )
    return links.visible(words)


def _refuse(person: User, preset: str, words: str) -> None:
    if not person.chat:
        raise ValidationError(_("You have turned the chat off."), code="chat_off")
    if preset and preset not in PRESETS:
        raise ValidationError(_("There is no such sentence."), code="no_preset")
    if not preset and not words:
        raise ValidationError(_("Say something."), code="no_words")
    if not preset and person.is_guest:
        raise ValidationError(_("Guests have the ready sentences. Keep your account to write."), code="chat_guest")
    if not preset and person.is_muted:
        raise ValidationError(_("You are muted. The ready sentences stay yours."), code="chat_muted")
    if links.leads_elsewhere(words):
        raise ValidationError(_("Links are held back here."), code="chat_link")
    now, own = timezone.now(), Message.objects.filter(author=person)
    if own.filter(at__gt=now - WITHIN).count() >= MOST:
        raise ValidationError(_("Too fast. Take a breath."), code="chat_flood")
    if own.filter(at__gt=now - SAME_AGAIN, preset=preset, words=words).exists():
        raise ValidationError(_("You have just said that."), code="chat_again")


def read(place: Place, person: User | None) -> list[Message]:
    """The last things said there that this person may and wants to read, the oldest first."""
    said = _said(place)
    if person is not None:
        said = said.exclude(author__in=Ignored.objects.filter(person=person).values("other"))
    return list(said.select_related("author").order_by("-id")[:SHOWN])[::-1]


def _said(place: Place) -> QuerySet[Message]:
    return Message.objects.filter(channel=place.channel, audience=place.audience, hidden=False)


def may_read(message: Message, person_id: int | None) -> bool:
    """Whether this person is one of those to whom it was said, and no moderator hid it."""
    return not message.hidden and was_said_to(message, person_id)


def was_said_to(message: Message, person_id: int | None) -> bool:
    """Whether this person stands where it was said, on the side to which it was said."""
    place = place_of(message.channel, person_id)
    return place is not None and place.audience == message.audience


def hide(message_id: int, hidden: bool = True) -> None:
    """Take a message away from everybody, or give it back; open pages see so at once."""
    message = Message.objects.filter(pk=message_id).first()
    if message is not None:
        Message.objects.filter(pk=message_id).update(hidden=hidden)
        news.ring_on_commit(_group(message.channel, message.audience))


def text(message: Message) -> str | Promise:
    return PRESETS.get(message.preset, message.preset) if message.preset else message.words


def forget_old() -> int:
    """Delete what was said a month ago; what was reported stands in its report."""
    return Message.objects.filter(at__lt=timezone.now() - KEPT).delete()[0]


# Not hearing somebody -------------------------------------------------------------------------------------------------


def ignore(person: User, other: User, *, blocked: bool = False) -> None:
    """Read nothing of theirs any more; blocked, nobody leads them to one's table (see `Ignored`)."""
    if person.pk != other.pk:
        Ignored.objects.update_or_create(person=person, other=other, defaults={"blocked": blocked})


def hear(person: User, other: User) -> None:
    """The other way round."""
    Ignored.objects.filter(person=person, other=other).delete()


def switch(person: User, on: bool) -> None:
    """Turn one's chat on or off."""
    User.objects.filter(pk=person.pk).update(chat=on)
    person.chat = on
