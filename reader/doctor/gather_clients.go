package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	connzSubject = "$SYS.REQ.ACCOUNT.PING.CONNZ"
	statzSubject = "$SYS.REQ.ACCOUNT.PING.STATZ"
	connzPage    = 200
	// mostClosed is how many closed connections are looked through on each server.
	mostClosed = 1024
)

// connzAnswer is what one server tells of its clients.
type connzAnswer struct {
	Server struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"server"`
	Data struct {
		Now         time.Time `json:"now"`
		Total       int       `json:"total"`
		Offset      int       `json:"offset"`
		Connections []struct {
			Connection
			List []string `json:"subscriptions_list"`
			// Subs is how many; it hides the list of the same name in Connection.
			Subs int `json:"subscriptions"`
		} `json:"connections"`
	} `json:"data"`
	Error json.RawMessage `json:"error"`
}

// connections asks every server for the clients of the account.
func (g *gathering) connections(ctx context.Context, first bool) {
	if !first && g.f.Connections == nil {
		return
	}
	g.tell("ask for connections", 0, 0)
	list, complete, err := g.everyConnection(ctx)
	if err != nil || len(list) == 0 {
		if first {
			reason := "nobody answers " + connzSubject
			if err != nil {
				reason = why(err)
			}
			g.f.notJudged("connections", reason, idNobody, idOrphan, idSlow)
		}
		return
	}
	if first {
		g.f.Connections = &Connections{Complete: complete && !g.leafNodes(ctx), List: list}
		return
	}
	before := map[string]Connection{}
	for _, c := range g.f.Connections.List {
		before[fmt.Sprint(c.Server, " ", c.ID)] = c
	}
	for i := range list {
		c := &list[i]
		was := before[fmt.Sprint(c.Server, " ", c.ID)]
		c.Before, c.Earlier, c.Had = was.Pending, was.Sent, was.Got
		for _, sub := range was.Subs {
			if !slices.Contains(c.Subs, sub) {
				c.Ended = append(c.Ended, sub)
			}
		}
	}
	g.f.Connections = &Connections{Complete: complete && g.f.Connections.Complete, List: list, Closed: g.closed(ctx)}
}

// everyConnection turns the pages of all servers.
func (g *gathering) everyConnection(ctx context.Context) (list []Connection, complete bool, err error) {
	complete = true
	delivers := g.deliverSubjects()
	own, _ := g.nc.GetClientID() //nolint:errcheck // an old server tells none: then none is ours
	for offset := 0; ; offset += connzPage {
		answers, err := g.everyServer(ctx, connzSubject, map[string]any{"subscriptions": true, "auth": true, "offset": offset, "limit": connzPage})
		if err != nil {
			return list, false, err
		}
		more := false
		for _, data := range answers {
			var a connzAnswer
			if json.Unmarshal(data, &a) != nil || len(a.Error) > 0 {
				complete = false
				continue
			}
			for _, c := range a.Data.Connections {
				c.Server = a.Server.Name
				c.Connection.Subs = nil
				c.Own = a.Server.ID == g.nc.ConnectedServerId() && c.ID == own
				for _, sub := range c.List {
					if inboxLike(sub) || slices.ContainsFunc(delivers, func(to string) bool { return covers(sub, to) }) {
						c.Connection.Subs = append(c.Connection.Subs, sub)
					} else {
						c.Others++
					}
				}
				list = append(list, c.Connection)
			}
			more = more || a.Data.Total > offset+connzPage
			g.f.seen(a.Data.Now)
		}
		if !more {
			return list, complete, nil
		}
	}
}

// deliverSubjects are those of push consumers.
func (g *gathering) deliverSubjects() (all []string) {
	for i := range g.f.Consumers {
		if to := g.f.Consumers[i].Config.DeliverSubject; to != "" {
			all = append(all, to)
		}
	}
	return all
}

// closed are the clients that servers have closed as too slow.
func (g *gathering) closed(ctx context.Context) (list []Connection) {
	answers, err := g.everyServer(ctx, connzSubject, map[string]any{"state": 1, "limit": mostClosed})
	if err != nil {
		return nil // a comfort: those that are slow now are known
	}
	for _, data := range answers {
		var a connzAnswer
		if json.Unmarshal(data, &a) != nil {
			continue
		}
		for _, c := range a.Data.Connections {
			if c.Stop != nil && strings.HasPrefix(c.Reason, "Slow Consumer") && a.Data.Now.Sub(*c.Stop) < closedLately {
				c.Server = a.Server.Name
				list = append(list, c.Connection)
			}
		}
	}
	return list
}

// leafNodes says whether clients may be connected where these servers do not see
// them: at leaf nodes of the account.
func (g *gathering) leafNodes(ctx context.Context) bool {
	answers, err := g.everyServer(ctx, statzSubject, nil)
	if err != nil {
		return true
	}
	for _, data := range answers {
		var a struct {
			Data struct {
				Accounts []struct {
					LeafNodes int `json:"leafnodes"`
				} `json:"account_statz"`
			} `json:"data"`
		}
		if json.Unmarshal(data, &a) != nil {
			return true
		}
		for _, account := range a.Data.Accounts {
			if account.LeafNodes > 0 {
				return true
			}
		}
	}
	return false
}
