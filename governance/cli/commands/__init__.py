"""One file a command: ``add_arguments(parser)`` and ``run(call) -> exit code``. None knows another."""
