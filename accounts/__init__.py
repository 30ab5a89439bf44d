"""People: who they are, how they come in, what protects them, and how they leave.

Signing in, passwords, passkeys and codes are django-allauth's; `adapters`, `forms` and `urls` fit it to this house.
Everything else is ours, a module for each thing that happens to a person:

    looks, names          which names may be held, by whom, and how they change
    signing, guests       becoming somebody; a guest taking a name
    duties, rescue        what stands before everything else; help for who lost their keys
    sessions              ending one or all, so that every process and socket hears of it
    moderation, closing   being shut out; leaving, for a while or for good
    export                what the house knows of somebody, each app adding its part

Other apps listen to `signals`, add to `export.parts`, and ask `duties.first_duty` before they let anybody act.
"""
