"""What CI hosts read: SARIF, JUnit and GitHub's workflow commands, each one file, all made from the same cases."""
