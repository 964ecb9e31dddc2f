// Package matrix plays targets against faults on versions of nats-server, and tells of every
// cell whether the target read again, how long it was silent, and what it lost.
//
//	Matrix -> Cells -> (chaos/run) -> Outcome -> Result -> text, JSON, Markdown, HTML
//
// What a matrix is (Matrix, Settings), what came of a cell (Outcome, from a finished run) and how
// that is shown (Result, Write) are plain values; Folder keeps them on disk; Play alone
// starts anything.
//
// What must stay true:
//
//   - A cell is what one run of chaos/run found: nothing is judged here a second time.
//   - A finished cell is on disk before the next one is begun in its place, as a whole. One that was
//     interrupted, or could not be judged, is played again by the next run of the same matrix.
//   - Cells of other settings never come into one table.
package matrix
