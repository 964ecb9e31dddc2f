// Package chaos makes faults on purpose and judges what a reader made of them.
//
//	Spec "kill-server@19s+1s" -> Runner -> proxy (wire), JetStream API (server), lab (process)
//	                                |
//	publisher's ids, messages, events, fault periods -> Oracle -> Verdict
//
// What must stay true:
//
//   - A fault is a value that prints and parses back.
//   - Whatever a Runner did is undone when Run returns, by signal or at the end.
//   - What must be undone on a server that is not the lab's is in the Journal, on
//     disk, before it is done: another process can undo it when this one is killed.
//   - On a server that is not the lab's only consumers of ours are touched; more
//     must be allowed, and a destructive fault must name its target.
//   - The Oracle has no clock and asks nobody: the same observations give the same
//     verdict.
package chaos
