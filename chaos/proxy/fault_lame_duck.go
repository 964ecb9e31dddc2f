package proxy

var lameDuck = Entry{
	Name:       "lame-duck",
	Where:      "to the client, INFO",
	Words:      "the server seems to go into lame duck mode: INFO with ldm:true and no other servers to go to, to clients of protocol 1 as servers do; a cut some seconds later is what follows there",
	Undo:       "none: clients that left come again",
	Once:       true,
	Parameters: []Parameter{connParameter},
	direction:  Down,
	build: func(a *arguments) (effect, error) {
		return lameDucker{conn: argument[glob](a, "conn")}, nil
	},
}

type lameDucker struct{ conn glob }

func (l lameDucker) start(a *applied, conns []*conn) {
	for _, c := range conns {
		if c.state() != open || !c.named(l.conn) {
			continue
		}
		info, ok := c.know.lameDuckInfo()
		if !ok {
			continue
		}
		line := append([]byte("INFO "), c.p.forClients(info)...)
		c.down.put(injection{data: append(line, " \r\n"...), facts: Frame{Verb: INFO}, by: a})
	}
}

// notInLDM are the members of an earlier INFO that are not in the one of lame duck mode: what was said in answer
// to CONNECT, and where else to go.
var notInLDM = []string{"ldm", "nonce", "connect_info", "remote_account", "acc_is_sys", "connect_urls", "ws_connect_urls"}

// lameDuckInfo returns the server's INFO as it would be in lame duck mode. ok is false for a client that is
// sent no INFO after the first, and where none is known.
func (k *knowledge) lameDuckInfo() (object []byte, ok bool) {
	k.mu.Lock()
	info, proto := k.info, k.client.Proto
	k.mu.Unlock()
	if proto < 1 || len(info) == 0 {
		return nil, false
	}
	stripped, err := stripMembers(info, notInLDM)
	if err != nil {
		return nil, false
	}
	return withMember(stripped, `"ldm":true`, behindLDM), true
}
