//go:build !unix

package fleet

// openFilesLimit is how many files this process may have open; 0: there is no such limit here.
func openFilesLimit() uint64 { return 0 }
