// Package plan reads, checks and tells experiments: which server, who publishes
// and reads, which faults come when, and what must hold.
//
//	text (YAML) -> Parse -> Plan -> Resolve(seed) -> Plan without a draw -> YAML again
//	                         |
//	                         +-> Validate, Words, Schema
//
// What must stay true:
//
//   - One description of the fields (the types of this package) serves reading, writing,
//     errors and the JSON schema.
//   - Every problem of a text is told, each in one line with its place, what is allowed,
//     and the nearest name.
//   - Resolve draws each value from the seed and the place of the draw (step and
//     repetition), never from the order of calls: one seed gives one plan, byte for byte,
//     and a resolved plan resolves to itself whatever the seed.
//   - What a resolved plan prints parses back to the same plan.
package plan
