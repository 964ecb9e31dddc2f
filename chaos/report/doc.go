// Package report writes finished runs for people and machines: as text, JSON, JUnit, Markdown, and as one HTML
// page that needs nothing else.
//
//	result.Run... -> view (words, figures, tables, timeline) -> text, Markdown, HTML
//	              -> JUnit, JSON
//
// What must stay true:
//
//   - The verdict comes first, and in words; colour says nothing alone.
//   - The same run gives the same bytes.
//   - What a run names (ids, payloads, subjects, errors) is shown and never obeyed: no control character,
//     markup or link of it has an effect.
//   - A report is bounded, however long the run; what is left out is said.
package report
