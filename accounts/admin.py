"""People in Django's administration: found and read. Everything about them is an act, not an edit; roles too."""

from typing import TYPE_CHECKING

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from accounts.admin_lookups import ShownFiltersOnly
from accounts.models import Trace, User
from accounts.paging import NearPages
from accounts.templatetags.sanctions import until

if TYPE_CHECKING:
    TracesOfUser = admin.TabularInline[Trace, User]
else:
    TracesOfUser = admin.TabularInline

# What these hold is their owner's: secrets, addresses, where somebody signed in.
for private in (Authenticator, EmailAddress, UserSession):
    admin.site.unregister(private)
# Nobody has rights by a group: see `Role`.
admin.site.unregister(Group)


class TraceInline(TracesOfUser):
    model = Trace
    fields = readonly_fields = ("at", "what", "by")
    ordering = ("-at",)
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False


@admin.register(User)
class UserAdmin(ShownFiltersOnly):
    list_display = (
        "name",
        "is_guest",
        "is_staff",
        "joined_at",
        "seen_on",
        "suspended",
        "muted",
        "closed_at",
        "ways",
    )
    list_filter = ("is_guest", "is_staff", "is_superuser")
    search_fields = ("folded_name",)
    search_help_text = _("The beginning of a name.")
    ordering = ("-pk",)
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = NearPages
    list_per_page = 50
    inlines = (TraceInline,)
    fields = readonly_fields = (
        *("name", "role", "is_guest", "joined_at", "seen_on", "language", "must_change_password", "ways"),
    )

    @admin.display(description=_("role"))
    def role(self, user: User) -> str:
        return str(user.role.label)

    @admin.display(description=_("suspended until"))
    def suspended(self, user: User) -> str | None:
        return until(user.suspended_until) if user.suspended_until else None

    @admin.display(description=_("muted until"))
    def muted(self, user: User) -> str | None:
        return until(user.muted_until) if user.muted_until else None

    @admin.display(description=_("moderation"))
    def ways(self, user: User) -> SafeString:
        return format_html('<a href="{}">{}</a>', reverse("games:moderated_person", args=[user.pk]), _("act"))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[User], search_term: str
    ) -> tuple[QuerySet[User], bool]:
        return (queryset & User.objects.called(search_term) if search_term else queryset), False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_staff)

    def has_view_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return bool(request.user.is_staff)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False
