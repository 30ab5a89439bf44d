"""A device that holds passkeys, as Chromium's own tools make one."""

from playwright.async_api import CDPSession, Page

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Device:
    """It recognises whoever holds it, until it is told otherwise."""

    def __init__(self, devtools: CDPSession, number: str) -> None:
        self._devtools, self._number = devtools, number

    async def recognises(self, holder: bool) -> None:
        about = {"authenticatorId": self._number, "isUserVerified": holder}
        await self._devtools.send("WebAuthn.setUserVerified", about)


async def give(page: Page) -> Device:
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("WebAuthn.enable")
    made = await devtools.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})
    return Device(devtools, made["authenticatorId"])
