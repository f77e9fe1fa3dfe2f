"""
The policy: may this call run? Pure functions over an action in parsed values.

Above: the engine, which judges each call before it runs, and the search tools, which leave out
what a deny rule hides. Below: the model's values, nothing else.

Two ideas carry the whole folder. Rules that forbid (deny, ask) hold as soon as *one* thing that a
call touches is named, and are read broadly; rules that allow hold only if *everything* is named,
and are read narrowly. What can't be decided with certainty is asked.
"""
