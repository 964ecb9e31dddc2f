package chaos

import (
	"fmt"
	"strings"
)

// The user that the reader logs in as where the lab's server has UserConfig.
const (
	ReaderUser     = "reader"
	ReaderPassword = "reader"
)

// pullSubjects are what a reader publishes to when it pulls.
const pullSubjects = "$JS.API.CONSUMER.MSG.NEXT.>"

// The sides of a permission.
const (
	sidePublish   = "publish"
	sideSubscribe = "subscribe"
)

// UserConfig is the config of a lab's server on which the reader has a user of its
// own, so that revoke-permission takes rights from it and from nobody else. Whoever
// does not log in may do all.
func UserConfig() string { return userConfig(nil) }

// userConfig denies some permissions to the reader's user.
func userConfig(revoked []Spec) string {
	deny := func(side string) string {
		var subjects []string
		for _, s := range revoked {
			if s.param("side") == side {
				subjects = append(subjects, fmt.Sprintf("%q", s.param("subject")))
			}
		}
		return side + ": { deny: [" + strings.Join(subjects, ", ") + "] }"
	}
	return fmt.Sprintf(`authorization: {
  users: [
    { user: %q, password: %q, permissions: { %s, %s } },
    { user: "anybody", password: "anybody" }
  ]
}
no_auth_user: "anybody"
`, ReaderUser, ReaderPassword, deny(sidePublish), deny(sideSubscribe))
}
