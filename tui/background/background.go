// Package background keeps the terminal from being asked for its colours.
//
// bubbletea asks in its init function whether the background is dark, and waits up to five seconds for the
// answer, in every command of a program that is linked with it. It does not where lipgloss knows already. Go
// initialises packages that are ready in the order of their import paths: this one comes before
// github.com/charmbracelet/bubbletea, because of the name of this module, and must go on doing so.
package background

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
