package published

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Ratio is what a study says of A to B.
type Ratio struct {
	// Value is the ratio; 1 where a study expects no difference.
	Value float64
	// Source says whose figure it is, with its range where it has one.
	Source string
}

// APIOverCGI returns how many times as many connections a second a server
// ("iis" or "netsite") served by its API as by CGI, in the study of 1996, with
// a mix: light, medium or heavy. Both rates are medians over the loads of 16
// to 128 clients.
func APIOverCGI(server, mix string) (Ratio, bool) {
	api, cgi := rate1996(server, "api", mix), rate1996(server, "cgi", mix)
	if len(api) == 0 || len(cgi) == 0 {
		return Ratio{}, false
	}
	names := map[string]string{"iis": "IIS, ISAPI to CGI", "netsite": "NetSite, NSAPI to CGI"}
	a, c := median(api), median(cgi)
	return Ratio{
		Value:  a / c,
		Source: fmt.Sprintf("%s, %g to %g connections/s, WebStone 1.1, Shiloh 1996", names[server], a, c),
	}, true
}

// FilesOverDatabase returns how many times as many connections a second Lotus
// Domino served from files as from a Notes database, in the study of 1997, with
// so many clients: there are figures for 4 to 24.
func FilesOverDatabase(clients int) (Ratio, bool) {
	rates := map[string]float64{}
	for _, r := range mustTable("webstone-1997-mindcraft-ladder") {
		if v, ok := r.Number("connections_per_s"); ok && r["server"] == "lotus-domino-1.5a" && r["clients"] == strconv.Itoa(clients) {
			rates[r["source"]] = v
		}
	}
	files, database := rates["files"], rates["database"]
	if files == 0 || database == 0 {
		return Ratio{}, false
	}
	return Ratio{
		Value:  files / database,
		Source: fmt.Sprintf("Domino 1.5a, %g to %g connections/s, WebStone 2.5, Mindcraft 1997", files, database),
	}, true
}

func rate1996(server, mechanism, mix string) []float64 {
	var rates []float64
	for _, r := range mustTable("webstone-1996-shiloh") {
		if r["server"] == server && r["mechanism"] == mechanism && r["mix"] == mix && r["metric"] == "connections_per_s" {
			if v, ok := r.Number("value"); ok {
				rates = append(rates, v)
			}
		}
	}
	return rates
}

// PollOverEpoll returns how many times the CPU a request that poll takes of
// what epoll takes, with so many active keep-alive connections and so many
// idle ones beside them.
func PollOverEpoll(clients, idle int) (Ratio, bool) {
	for _, r := range mustTable("poll-epoll-lighttpd") {
		low, haveLow := r.Number("ratio_low")
		high, haveHigh := r.Number("ratio_high")
		if r["keepalive"] != "yes" || r["clients"] != strconv.Itoa(clients) || r["idle"] != strconv.Itoa(idle) || !haveLow || !haveHigh {
			continue
		}
		value := math.Sqrt(low * high)
		if low <= 1 && 1 <= high {
			value = 1
		}
		return Ratio{Value: value, Source: fmt.Sprintf("%g to %g with lighttpd 1.4.69, Linux 6.18, loopback", low, high)}, true
	}
	return Ratio{}, false
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}
