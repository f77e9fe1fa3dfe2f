"""
Doubles that ship: they behave as the real adapters do, pass the same contract kits, record what
they were asked, and fail on what nobody scripted.
"""
