"""safepip stands in pip's place and refuses to remove what the rest of an environment still needs.

The map, from what knows least to what knows most; imports point upwards in this list only:

    model/      every noun: frozen values without behaviour beyond properties
    errors      what ends a command without a verdict
    world       what exists, as the target process sees it, and the same after a change
    reasoning/  decides: from values to values; opens nothing, runs nothing, knows no clock
    reading/    looks: opens files for reading, imports and runs nothing of the target
    acting/     changes the system: the only place that may
    render/     says it: a report for people, and one for programs
    grammar/    what command lines are made of
    commands/   one function a command, where looking, deciding and acting meet
    watch       runs pip and keeps what it is about to change, within pip's own process and Python
    startup     the hook that a guarded environment runs at each start: a text to be copied, no part of the rest
    cli/        a command line into a command, and a report onto a stream

Modules below this one can be imported; only the command line and the JSON report are promised.
"""

__version__ = "0.1.0"
