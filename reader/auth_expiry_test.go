package reader_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// operator signs the accounts and users of a server in operator mode.
type operator struct {
	t       testing.TB
	account nkeys.KeyPair
	user    nkeys.KeyPair
	config  string
}

func newOperator(t testing.TB) *operator {
	t.Helper()
	o := &operator{t: t}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pair := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		t.Helper()
		kp, err := make()
		check(err)
		public, err := kp.PublicKey()
		check(err)
		return kp, public
	}
	root, rootKey := pair(nkeys.CreateOperator)
	_, systemKey := pair(nkeys.CreateAccount)
	var accountKey string
	o.account, accountKey = pair(nkeys.CreateAccount)
	o.user, _ = pair(nkeys.CreateUser)

	claims := jwt.NewOperatorClaims(rootKey)
	claims.SystemAccount = systemKey
	signedOperator, err := claims.Encode(root)
	check(err)
	signedSystem, err := jwt.NewAccountClaims(systemKey).Encode(root)
	check(err)
	account := jwt.NewAccountClaims(accountKey)
	account.Limits.JetStreamLimits = jwt.JetStreamLimits{
		MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit,
		MaxAckPending: jwt.NoLimit, MemoryMaxStreamBytes: jwt.NoLimit, DiskMaxStreamBytes: jwt.NoLimit,
	}
	signedAccount, err := account.Encode(root)
	check(err)
	o.config = fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n  %s: %s\n  %s: %s\n}\n",
		signedOperator, systemKey, systemKey, signedSystem, accountKey, signedAccount)
	return o
}

// badge is a signed user; 0 never expires.
func (o *operator) badge(life time.Duration) string {
	o.t.Helper()
	public, err := o.user.PublicKey()
	if err != nil {
		o.t.Fatal(err)
	}
	claims := jwt.NewUserClaims(public)
	if life != 0 {
		claims.Expires = time.Now().Add(life).Unix()
	}
	badge, err := claims.Encode(o.account)
	if err != nil {
		o.t.Fatal(err)
	}
	return badge
}

// login logs in with the badge that badge gives at the time.
func (o *operator) login(badge func() string) nats.Option {
	return nats.UserJWT(func() (string, error) { return badge(), nil }, o.user.Sign)
}

func withOperator(t testing.TB) (*bed, *operator) {
	t.Helper()
	o := newOperator(t)
	admin := o.login(func() string { return o.badge(0) })
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	server, err := lab.Start(ctx, lab.Options{Config: o.config, ReadyOptions: []nats.Option{admin}})
	if err != nil {
		t.Fatal(err)
	}
	return attachBed(t, ctx, server, admin, admin), o
}

// reconnect gives the reader's side a connection of its own options.
func (b *bed) reconnect(options ...nats.Option) {
	b.Helper()
	b.nc = b.connect(b.server.URL(), options...)
	var err error
	b.js, err = jetstream.New(b.nc)
	b.must(err)
}

// badgeLife is long enough to connect, open and read, on a busy machine too.
const badgeLife = 5 * time.Second

// A user whose time is over is cut off by the server. With a badge that is renewed
// the reader reads on; one that is renewed late is waited for by a connection that
// was told not to give up.
func TestAuthExpiryAndReturn(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("late=%t", late), func(t *testing.T) {
			b, o := withOperator(t)
			b.publish(1, 10)
			short := o.badge(badgeLife)
			var logins atomic.Int32
			var renewed atomic.Bool
			b.reconnect(nats.IgnoreAuthErrorAbort(), o.login(func() string {
				logins.Add(1)
				if renewed.Load() {
					return o.badge(time.Hour)
				}
				return short
			}))
			r := b.open(calm())
			b.expect(r, 1, 10)
			before := logins.Load()
			renewed.Store(!late)
			b.await("disconnected", 1)
			b.publish(11, 20)
			if late {
				b.eventually("two logins failed", func() bool { return logins.Load() > before+1 })
				renewed.Store(true)
			}
			b.expect(r, 11, 20)
			if s := r.Status(); s.Missed != 0 || s.Replaced["reconnected"]+uint64(b.count("session_healed")) != 1 {
				t.Fatalf("status %+v\n%s", s, b.story())
			}
		})
	}
}

// A badge that is not renewed ends the connection, and with it the reader: the
// server's word is told everywhere.
func TestAuthExpiryForGood(t *testing.T) {
	t.Parallel()
	b, o := withOperator(t)
	b.publish(1, 10)
	short := o.badge(badgeLife)
	b.reconnect(o.login(func() string { return short }))
	r := b.open(calm())
	b.expect(r, 1, 10)
	_, err := r.Next(b.ctx)
	b.sameStory(r, err, reader.ErrConnectionClosed, "connection closed", "uth")
	t.Log(err)
}
