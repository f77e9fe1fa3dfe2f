"""The words of asking: what people say around the thing that they ask about."""

# One string, because a list would fill four pages.
ASKING = frozenset(
    """
    a about above across add after again against ahead all along already also although always am among
    an and another any anybody anyone anything anywhere are around as ask at away back be because been
    before behind being below best better between big both but by call called calls can cannot certain
    change check checked checks code codebase come concept contain contains could create current
    currently define defined defines definition describe detail details did different do doc docs
    document documentation does doing done down during e.g each either else entire etc ever every
    everything example examples exist exists explain few file files find folder for from full function
    functions get give given gives go goes good got great had handle handled handles handling happen
    happening happens has have having he hello help her here hey hi him his how however i i.e idea if
    implement implementation implemented implements in information inside into is isn it its itself just
    keep kind know let like line lines list live lives located look lot made main make makes many matter
    matters may me mean means method might mine module more most much must my name named names need
    needs never new next no nobody none nor not nothing now of off often ok okay on once one only onto
    or other others our ours out over overview own part particular place please point possible project
    put quite rather read really reason repo repository responsible return returns right said same say
    see seem she should show shows since small so some somebody someone something sometimes somewhere
    source stand stands still such summarise summarize summary sure take tell text than thank thanks
    that the their theirs them then there these they thing things this those through thus to today
    together too toward towards try under understand until up upon us use used uses using usually very
    via want was way we well were what whatever when where whether which while who whole whom whose why
    will with within without word words work worked working works workspace would write written yes yet
    you your yours
    """.split()  # noqa: SIM905
)
