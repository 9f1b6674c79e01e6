"""A job of many ranks as one: who is who, who waited for whom, how far clocks can be trusted, and where it began.

    facts of a Harvest -who-> processes and communicators -waits-> a graph -clocks-> skew -roots-> Job

Nothing here reads files: everything follows from the harvest, whatever order it was merged in.
"""
