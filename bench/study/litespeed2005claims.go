package study

import (
	"fmt"
	"strings"

	"github.com/weighstone/weighstone/bench/published"
)

// series2005 are the servers that have points all along the ladder.
func series2005(load string) []Series {
	return []Series{{litespeed, load}, {naive, load}, {tux, load}, {apache20, load}}
}

// facts2005 is a table of the study's text, in a line.
func facts2005(name string) string {
	var all []string
	for _, r := range table(name) {
		var fields []string
		for _, column := range columns2005(name) {
			if r[column] != "" {
				fields = append(fields, strings.ReplaceAll(column, "_", " ")+" "+r[column])
			}
		}
		all = append(all, strings.Join(fields, ", "))
	}
	return strings.Join(all, "; ")
}

func columns2005(name string) []string {
	if name == "litespeed-2005-tests" {
		return []string{"test", "requests", "keepalive", "path", "body_bytes", "mechanism"}
	}
	return []string{"claim", "subject", "against", "workload", "low_ratio", "high_ratio", "note"}
}

// tables2005 have the best of three, which the study published, beside the
// median of all runs.
func tables2005() []Table {
	columns := func(loads ...string) (all []Column) {
		for _, l := range loads {
			all = append(all, Column{l + ": requests/s", l, Requests, 0}, Column{l + ": best of three", l, BestOfThree, 0},
				Column{l + ": a second of server CPU", l, Capacity, 0})
		}
		return all
	}
	files := columns("static-close", "static-keepalive")
	all := []Table{{Number: "1", Title: fmt.Sprintf("the file of 100 bytes, %d clients", clients2005), Clients: clients2005, Columns: files}}
	for _, v := range servers2005() {
		all[0].Servers = append(all[0].Servers, v.Key)
	}
	all = append(all, Table{Number: "2", Title: fmt.Sprintf("programs, %d clients", programs2005), Servers: []string{litespeed, apache20, modules, behind}, Clients: programs2005,
		Columns: columns("cgi", "fastcgi", "php-hello", "php-info", "perl-hello")})
	for i, server := range []string{litespeed, naive, tux, apache20} {
		all = append(all, Table{Number: fmt.Sprintf("3%c", 'A'+i), Title: "the file of 100 bytes", Server: server, Columns: files})
	}
	return append(all, Table{Number: "4", Title: "errors above a bound of ten connections an address", Server: iis6,
		Columns: []Column{{"requests/s", "static-close", Requests, 0}, {"errors/s", "static-close", Errors, 1}}})
}

// claim2005 is a row of the study's claims.
func claim2005(name string) published.Row {
	for _, r := range table("litespeed-2005") {
		if r["claim"] == name {
			return r
		}
	}
	panic("study: nothing is published of " + name)
}

// told2005 is a figure with what the study's text says of it.
func told2005(name string, f Figure) Figure {
	r := claim2005(name)
	lo, _ := r.Number("low_ratio")
	hi, _ := r.Number("high_ratio")
	return Told{f, name, lo, hi}
}

func claims2005() []Claim {
	at := func(server, load string) Point { return Point{server, load, clients2005} }
	program := func(server, load string) Point { return Point{server, load, programs2005} }
	ahead := func(claim string, a, b Point) Figure { return told2005(claim, ratio(Capacity, a, b)) }
	const closed, kept = "static-close", "static-keepalive"
	all := []Claim{
		{"with the small file, a connection each, LiteSpeed is ahead of Apache 2.0", ahead("static-faster", at(litespeed, closed), at(apache20, closed)), Range{Lo: 1}},
		{"with the small file on kept connections LiteSpeed is ahead of Apache 2.0", ahead("static-faster", at(litespeed, kept), at(apache20, kept)), Range{Lo: 1}},
		{"with the small file on kept connections LiteSpeed is ahead of Apache 1.3", ahead("static-faster", at(litespeed, kept), at(apache13, kept)), Range{Lo: 1}},
		{"with the small file on kept connections LiteSpeed is up to 3 to 7 times as fast as Apache 2.0", ahead("static-faster", at(litespeed, kept), at(apache20, kept)), Range{Lo: 3, Hi: 7}},
	}
	for _, p := range [][2]string{{"cgi", "CGI"}, {"fastcgi", "FastCGI"}, {"php-hello", "a PHP hello"}, {"php-info", "phpinfo()"}, {"perl-hello", "a Perl hello"}} {
		all = append(all, Claim{"with " + p[1] + " LiteSpeed is ahead of Apache 2.0 (by 50 to 100 %)",
			ahead("dynamic-faster", program(litespeed, p[0]), program(apache20, p[0])), Range{Lo: 1}})
	}
	for _, p := range [][2]string{{"php-hello", "a PHP hello"}, {"php-info", "phpinfo()"}, {"perl-hello", "a Perl hello"}} {
		all = append(all,
			Claim{"with " + p[1] + " LiteSpeed by FastCGI is ahead of today's Apache with the interpreter in process",
				ahead("dynamic-faster", program(litespeed, p[0]), program(modules, p[0])), Range{Lo: 1}},
			Claim{"with " + p[1] + " today's Apache does more in process than by FastCGI (ours)",
				ratio(Capacity, program(modules, p[0]), program(behind, p[0])), Range{Lo: 1}})
	}
	return append(all,
		Claim{"the two Apaches are very close", ahead("apache-versions-equal", at(apache20, kept), at(apache13, kept)), Range{Lo: .9, Hi: 1.1}},
		Claim{"poll is ahead of epoll with 30 clients", ahead("poll-beats-epoll", at(litespeed, kept), at(naive, kept)), Range{Lo: 1}},
		Claim{"poll is ahead of epoll with 1,000 clients", ahead("poll-beats-epoll", Point{litespeed, kept, 1000}, Point{naive, kept, 1000}), Range{Lo: 1}},
		Claim{"poll is ahead of epoll as it is used today (ours)", ratio(Capacity, at(litespeed, kept), at(changes, kept)), Range{Lo: 1}},
		Claim{"today's lighttpd answers more with poll than with epoll (ours)", ratio(Capacity, at("lighttpd-poll", kept), at("lighttpd", kept)), Range{Lo: 1}},
		Claim{"with a connection each TUX is ahead of LiteSpeed", ahead("kernel-accelerator-no-keepalive", at(tux, closed), at(litespeed, closed)), Range{Lo: 1}},
		Claim{"with kept connections LiteSpeed catches up with TUX", ahead("kernel-accelerator-keepalive", at(litespeed, kept), at(tux, kept)), Range{Lo: .9}},
		Claim{"LiteSpeed is ahead of thttpd", ahead("user-accelerators", at(litespeed, kept), at(thttpd, kept)), Range{Lo: 1}},
		Claim{"LiteSpeed is ahead of Boa", ahead("user-accelerators", at(litespeed, kept), at(boa, kept)), Range{Lo: 1}},
		Claim{"LiteSpeed is ahead of Mathopd", ahead("user-accelerators", at(litespeed, kept), at(mathopd, kept)), Range{Lo: 1}},
		Claim{"LiteSpeed is ahead of lighttpd", ahead("beats-lighttpd", at(litespeed, kept), at(lighttpd5, kept)), Range{Lo: 1}},
		Claim{"override files slow Apache down", ahead("override-files", at(apache20, kept), at(overrides, kept)), Range{Lo: 1}},
		Claim{"override files hardly slow LiteSpeed down", ahead("override-files", at(lsOver, kept), at(litespeed, kept)), Range{Lo: .9}},
		Claim{"IIS refuses connections above ten", told2005("iis-refuses", ErrorShare{[]Point{at(iis6, closed)}}), Range{Lo: .01}},
		Claim{"IIS refuses none up to ten (ours)", ErrorShare{[]Point{{iis6, closed, 10}}}, Range{Hi: .001}},
		Claim{"the best of three is at most 2 % above the median, LiteSpeed (ours)", Flattery{Requests, at(litespeed, kept), 3}, Range{Hi: 1.02}},
		Claim{"the best of three is at most 2 % above the median, Apache 2.0 (ours)", Flattery{Requests, at(apache20, kept), 3}, Range{Hi: 1.02}},
	)
}
