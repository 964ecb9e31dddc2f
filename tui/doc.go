// Package tui is the screen of a running reader: what it does, why its sessions ended, how fast it reads,
// which faults are on, and whether its contract holds. It alone knows charmbracelet's libraries, and it knows
// no connection: it is told Items, and draws.
//
//	Item > Feed > Model.Update > book (what is known of the run) > panes > Model.View
//
// What must stay true:
//
//   - Nobody who tells an Item waits for the terminal: a Feed is bounded, and drops and counts.
//   - The layout is a pure function of size and focus; a view is never larger than its terminal.
//   - Colour only repeats what a word or a sign says already.
//   - The model asks no clock: the time comes with messages.
//   - What others wrote (names, errors, subjects) is cleaned before it is drawn: it moves no cursor.
package tui
