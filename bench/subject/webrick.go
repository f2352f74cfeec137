package subject

import "fmt"

// webrickGem is the library, which Ruby no longer brings itself.
const webrickGem = "/usr/share/rubygems-integration/*/gems/webrick-*"

// webrick is a program of a few lines, as its manual shows it.
func webrick(_ string, s Setup) (Recipe, error) {
	if err := s.refuse("WEBrick", "a way to ask FastCGI applications"); err != nil {
		return Recipe{}, err
	}
	r := Recipe{
		Args:    func(_ int, config string) []string { return []string{config} },
		Config:  func(port int, _ string) string { return webrickProgram(s, port) },
		Modules: []string{"FileHandler"},
		Unequal: []string{fmt.Sprintf("WEBrick has a thread for each connection, %d at most, of which one runs at a time", s.Connections)},
	}
	if s.CGI != "" {
		r.Modules = append(r.Modules, "CGIHandler")
		r.Unequal = append(r.Unequal, "WEBrick starts a Ruby interpreter for each request to a CGI program, which then becomes the program")
	}
	return r, nil
}

func webrickProgram(s Setup, port int) string {
	log := "[]"
	if s.AccessLog != "" {
		log = fmt.Sprintf(`[[File.open("%s", "a"), WEBrick::AccessLog::COMMON_LOG_FORMAT]]`, s.AccessLog)
	}
	programs := ""
	if s.CGI != "" {
		programs = fmt.Sprintf(`server.mount("/cgi-bin", WEBrick::HTTPServlet::FileHandler, "%s",
  HandlerTable: Hash.new(WEBrick::HTTPServlet::CGIHandler))
`, s.CGI)
	}
	return fmt.Sprintf(`require "webrick"
server = WEBrick::HTTPServer.new(
  BindAddress: "127.0.0.1", Port: %d, DocumentRoot: "%s", DirectoryIndex: ["index.html"],
  MaxClients: %d, RequestTimeout: 3600, DoNotReverseLookup: true,
  AccessLog: %s, Logger: WEBrick::Log.new($stderr, WEBrick::Log::WARN))
server.listeners.each { |l| l.listen(4096) }
%strap("TERM") { server.shutdown }
server.start
`, port, s.Root, s.Connections, log, programs)
}
