// Package commands is the command line of nats-reader: the only package that
// knows urfave/cli and exit codes.
//
//	arguments -> normalise -> cli.App -> one command -> error -> report -> exit code
//	                           flags: global table + the command's own
//
// What must stay true:
//
//   - The result goes to stdout, all else to stderr, an error as
//     "nats-reader: error: ..." with, where it helps, "nats-reader: hint: ...".
//   - A flag means the same wherever it stands: before the command, after it, after
//     an argument. "--" ends the flags.
//   - Only Main decides the exit code: 0 good, 1 warning, 2 critical, 3 cannot
//     judge, 130 interrupted.
//   - No secret is printed: not a password in a URL, not in an error either.
package commands
