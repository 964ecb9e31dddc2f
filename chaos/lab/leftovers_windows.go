package lab

import "io/fs"

// ours: the temporary folder is the user's own here.
func ours(fs.FileInfo) bool { return true }

// serversOf finds none: a server dies with its keeper's end of the pipe, or is ended by hand. A folder that
// one holds open cannot be removed, and that is told.
func serversOf(string) ([]int, error) { return nil, nil }
