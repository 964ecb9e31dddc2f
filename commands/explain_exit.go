package commands

import "strconv"

// exitEntries explain the exit codes, which are the same for every command.
func exitEntries() []entry {
	e := func(code int, text, means, does, do string) entry {
		return entry{Topic: topicExit, Word: strconv.Itoa(code), Text: text, Means: means, Reader: does, Do: do}
	}
	return []entry{
		e(exitGood, "good", "All went well; the contract held; doctor found nothing wrong.",
			"Ends with it also where nobody reads its output any more, as behind head.", nothing),
		e(exitWarning, "warning", "doctor has warnings, or chaos clear has left something. No other command ends with it.",
			"Has told on stdout what it found.", "Read the findings. With doctor --fail-on critical only the worse ones count."),
		e(exitCritical, "critical", "The contract is broken, a reader of bench lost or repeated a message, or doctor found a deaf reader or worse.",
			"Has told on stdout what was lost, repeated, out of order or deaf.", "Read the report; the command line at its end plays a run of chaos again."),
		e(exitCannotJudge, "cannot judge", "Nothing was found out: a command line that cannot be run, no connection, a stream that is missing, a run that was not steady, a crash of ours.",
			"Has told why on stderr, and what to do.", "Do what the hint says. Plain go run turns every code but 0 into 1: build the program."),
		e(exitInterrupted, "interrupted", "A signal ended it: Ctrl-C, TERM or HUP.",
			"Has undone its faults and left nothing on the server.", "Nothing; the next run of chaos matrix --out, and read --resume, go on from there."),
	}
}
