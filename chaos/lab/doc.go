// Package lab runs real nats-servers for demos and tests: as child processes,
// so that TERM, KILL and STOP/CONT are what they are in production.
//
//	this process          keeper                    nats-server
//	(test, product) ----> this executable again --> this executable again,
//	  Server      stdin   owns the temporary        or any other binary
//	              stdout  folder and the server
//
// The keeper stands between the two so that nothing is left behind. It lives
// in a session of its own, holds the read end of a pipe from this process, and
// when that pipe ends, by Close or because this process is gone in any way,
// kill -9 included, it kills the server, frozen or not, and removes the folder. On
// Linux the server also dies with its keeper.
//
// [StartCluster] runs several of them as the nodes of a cluster. Their routes run over
// cables of this process, so that a node can be cut off from the others:
//
//	node n1 --route--> cable n1>n2 --> node n2     a cable for each direction in
//	node n2 --route--> cable n2>n1 --> node n1     which a route may be opened
//
// What must stay true:
//
//   - [Main] is the first call of TestMain and of main: it turns a process
//     that was started as a child into that child.
//   - A server listens on 127.0.0.1 only, on the same two ports (clients and
//     monitoring) for the whole life of its [Server], through every restart.
//     On Linux the ports are held while the server is down, so that nobody
//     else is given them.
//   - Start returns when the server is ready: /healthz says ok and the first
//     JetStream request is answered. A node of a cluster is started when it lets
//     clients in; the cluster is ready when that is true of every node.
//   - Nodes of a cluster have no way to each other but the cables.
//   - A signal of the terminal (Ctrl-C) reaches this process only; what
//     happens to the servers is this process's decision.
//   - After Close, or after Start returned an error, there is no process and no
//     temporary folder.
package lab
