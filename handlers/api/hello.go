package api

import (
	"time"

	"github.com/weighstone/weighstone"
)

// Hello is the page that hello answers with, 77 bytes.
const Hello = "<html><head><title>Hi</title></head><body><h1>Hello World</h1></body></html>\n"

// newHello answers with a fixed page, that stays as it is.
func newHello() weighstone.Handler {
	page := weighstone.NewPage("text/html", time.Time{}, []byte(Hello))
	return weighstone.HandlerFunc(func(x *weighstone.Exchange) {
		x.SendPage(page)
		x.Out.Fresh = time.Hour
	})
}
