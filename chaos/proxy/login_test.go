package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// A client that proves with a key who it is proves it to the server: the nonce is the server's.
func TestNkeyLogin(t *testing.T) {
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	login := nats.Nkey(public, key.Sign)
	b := newBedWith(t, lab.Options{
		Config:       fmt.Sprintf("accounts { A { jetstream: enabled, users: [ { nkey: %s } ] } }", public),
		ReadyOptions: []nats.Option{login},
	})
	for _, memory := range []bool{true, false} {
		nc := b.dial(memory, login)
		b.usable(nc)
	}
	other, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	if nc, err := nats.Connect(b.proxy.URL(), nats.Nkey(public, other.Sign), nats.Timeout(limit)); err == nil {
		nc.Close()
		t.Error("a wrong key is let in")
	}
}

// The same with a JWT.
func TestJWTLogin(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pair := func(create func() (nkeys.KeyPair, error)) (key nkeys.KeyPair, public string) {
		t.Helper()
		key, err := create()
		must(err)
		public, err = key.PublicKey()
		must(err)
		return key, public
	}
	operatorKey, operator := pair(nkeys.CreateOperator)
	accountKey, account := pair(nkeys.CreateAccount)
	userKey, user := pair(nkeys.CreateUser)
	operatorJWT, err := jwt.NewOperatorClaims(operator).Encode(operatorKey)
	must(err)
	accountJWT, err := jwt.NewAccountClaims(account).Encode(operatorKey)
	must(err)
	userJWT, err := jwt.NewUserClaims(user).Encode(accountKey)
	must(err)
	seed, err := userKey.Seed()
	must(err)
	login := nats.UserJWTAndSeed(userJWT, string(seed))
	b := newBedWith(t, lab.Options{
		NoJetStream:  true,
		Config:       fmt.Sprintf("operator: %s\nresolver: MEMORY\nresolver_preload: { %s: %s }", operatorJWT, account, accountJWT),
		ReadyOptions: []nats.Option{login},
	})
	for _, memory := range []bool{true, false} {
		nc := b.dial(memory, login)
		b.usablePing(nc)
	}
	if nc, err := nats.Connect(b.proxy.URL(), nats.Timeout(limit)); err == nil {
		nc.Close()
		t.Error("nobody is let in")
	} else if !strings.Contains(err.Error(), "authorization") && !strings.Contains(err.Error(), "Authorization") {
		t.Errorf("without a JWT: %v", err)
	}
}
