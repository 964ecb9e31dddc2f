// Package result is one finished run as plain values, and their form as JSON. Reports are made from it, and a
// run is kept as it.
package result
