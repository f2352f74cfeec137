#!/usr/bin/env perl
# echo prints the CGI variables, one NAME=value a line, sorted; then for a POST
# a blank line and the body, read by CONTENT_LENGTH.
my @known = grep {
	/^(?:AUTH_TYPE|DOCUMENT_ROOT|GATEWAY_INTERFACE|PATH_INFO|PATH_TRANSLATED|QUERY_STRING|REDIRECT_STATUS)$|^(?:CONTENT|HTTP|REMOTE|REQUEST|SCRIPT|SERVER)_/
} keys %ENV;
print "Content-type: text/plain\r\n\r\n";
print "$_=$ENV{$_}\n" for sort @known;
if (($ENV{REQUEST_METHOD} // '') eq 'POST') {
	my $left = $ENV{CONTENT_LENGTH} || 0;
	binmode STDIN;
	binmode STDOUT;
	print "\n";
	while ($left > 0) {
		my $n = read STDIN, my $part, $left < 65536 ? $left : 65536;
		last if !$n;
		print $part;
		$left -= $n;
	}
	print "\n[body ends $left bytes short]\n" if $left > 0;
}
