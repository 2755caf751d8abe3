"""Model the form on which a label is entered.

`fields` are what a tool's schema asks for; `matchers`, how each is compared and what is entered in it; `plan`, the
order of calls. `reading` and `calls` turn what a page sends into an expectation; `form_from_expectation` does the
reverse. `acts` adds, moves and removes, and `panel` is what templates show.
"""
