"""Blanking secrets in what was said: in frames, in values, in text. Pure.

The one choke point between the log and what is shared: ``redactor``. What a secret looks like
by itself is in ``shapes``, by its name in ``names``, in running text in ``texts``; what was seen
once and is known from then on in ``known``; secrets cut in pieces by chunks in ``joins``.
"""
