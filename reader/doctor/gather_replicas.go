package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
)

const (
	userSubject = "$SYS.REQ.USER.INFO"
	jszSubject  = "$SYS.REQ.SERVER.PING.JSZ"
	bySystem    = "the system account"
	whatNodes   = "replicas"
)

// jszAnswer is what one server tells of the JetStream of an account.
type jszAnswer struct {
	Now      time.Time `json:"now"`
	Disabled bool      `json:"disabled"`
	Config   struct {
		MaxMemory  int64 `json:"max_memory"`
		MaxStorage int64 `json:"max_storage"`
	} `json:"config"`
	Memory   uint64 `json:"memory"`
	Storage  uint64 `json:"storage"`
	Accounts []struct {
		ID      string `json:"id"`
		Streams []struct {
			Name  string      `json:"name"`
			Group *Group      `json:"cluster"`
			State StreamState `json:"state"`
			List  []struct {
				ConsumerReplica
				Group *Group `json:"cluster"`
			} `json:"consumer_detail"`
		} `json:"stream_detail"`
	} `json:"account_details"`
}

// witnesses asks every server what it holds, where the operator gave the means: by
// the system account, and the monitoring port of one server.
func (g *gathering) witnesses(ctx context.Context, first bool) {
	g.askSystem(ctx, first)
	if g.f.Monitor != nil && g.accountName(ctx) {
		var a jszAnswer
		from := strings.TrimSuffix(g.Monitor, "/") + "/jsz?consumers=true&acc=" + url.QueryEscape(g.ownAccount)
		if err := fetch(ctx, from, g.Timeout, &a); err != nil {
			g.f.notJudged("what the monitoring port tells of streams", err.Error())
			return
		}
		g.sawNode(g.f.Monitor.Name, g.f.Monitor.URL, a, first)
	}
}

// dialSystem makes the connection of the system account, where there is to be one.
func (g *gathering) dialSystem(ctx context.Context) (leave func()) {
	if g.System == nil {
		return func() {}
	}
	g.tell("connect to the system account", 0, 0)
	nc, err := g.System(ctx)
	if err != nil {
		g.f.notJudged(whatNodes, "the system account: "+err.Error(), "a part of READER_015 and READER_018")
		return func() {}
	}
	g.system = newDesk(nc, "", g.Timeout)
	return nc.Close
}

func (g *gathering) askSystem(ctx context.Context, first bool) {
	if g.system == nil || !g.accountName(ctx) {
		return
	}
	g.tell("ask every server what it holds", 0, 0)
	answers, err := g.system.everyServer(ctx, jszSubject, map[string]any{"account": g.ownAccount, "streams": true, "consumer": true})
	var denied *deniedError
	switch {
	case ctx.Err() != nil:
		return // whoever waits next is told
	case errors.As(err, &denied), errors.Is(err, errNoResponders):
		g.f.notJudged(whatNodes, "the credentials that were given for it are not of the system account: "+why(err)+" to "+jszSubject, "a part of READER_015 and READER_018")
		g.system = nil
		return
	case err != nil:
		g.f.notJudged(whatNodes, why(err)+" to "+jszSubject, "a part of READER_015 and READER_018")
		return
	}
	for _, data := range answers {
		var a struct {
			Server struct {
				Name string `json:"name"`
			} `json:"server"`
			Data  jszAnswer       `json:"data"`
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(data, &a) == nil && len(a.Error) == 0 {
			g.sawNode(a.Server.Name, bySystem, a.Data, first)
		}
	}
}

// accountName finds out how the servers call our account.
func (g *gathering) accountName(ctx context.Context) bool {
	if g.ownAccount != "" || g.nameless {
		return g.ownAccount != ""
	}
	var a struct {
		Data struct {
			Account string `json:"account"`
		} `json:"data"`
	}
	data, err := g.request(ctx, userSubject, nil, g.Timeout)
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if g.ownAccount = a.Data.Account; g.ownAccount == "" && ctx.Err() == nil {
		g.nameless = true
		reason := "no name of our account in the answer to " + userSubject
		if err != nil {
			reason = why(err) + ", and so the name of our account is not known (" + userSubject + ")"
		}
		g.f.notJudged(whatNodes, reason, "a part of READER_015")
	}
	return g.ownAccount != ""
}

// sawNode keeps what concerns the streams and consumers that are looked at. A
// server that the system account told of is not asked twice.
func (g *gathering) sawNode(name, by string, a jszAnswer, first bool) {
	look := &NodeLook{
		Time: a.Now, Disabled: a.Disabled, Memory: a.Memory, Storage: a.Storage, MaxMemory: a.Config.MaxMemory, MaxStorage: a.Config.MaxStorage,
	}
	for _, account := range a.Accounts {
		if account.ID != g.ownAccount {
			continue
		}
		for _, s := range account.Streams {
			if g.Stream != "" && s.Name != g.Stream {
				continue
			}
			r := StreamReplica{Name: s.Name, Leader: s.Group.leads(), Messages: s.State.Messages, Bytes: s.State.Bytes, FirstSeq: s.State.FirstSeq, LastSeq: s.State.LastSeq}
			for _, c := range s.List {
				if g.Consumer == "" || c.Name == g.Consumer {
					c.Leader = c.Group.leads()
					r.Consumers = append(r.Consumers, c.ConsumerReplica)
				}
			}
			look.Streams = append(look.Streams, r)
		}
	}
	for i := range g.f.Nodes {
		n := &g.f.Nodes[i]
		if n.Name != name {
			continue
		}
		if n.By == by {
			n.look(look, first)
		}
		return
	}
	n := Node{Name: name, By: by}
	n.look(look, first)
	g.f.Nodes = append(g.f.Nodes, n)
}

func (n *Node) look(l *NodeLook, first bool) {
	if first {
		n.First = l
	} else {
		n.Last = l
	}
}

func (g *Group) leads() string {
	if g == nil {
		return ""
	}
	return g.Leader
}
