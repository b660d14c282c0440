use strict;
use IO::Socket::INET;
$| = 1;
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ENV{PORT}, Listen => 16, ReuseAddr => 1) or die;
print "ready\n";
my $calls = 0;
while (my $client = $server->accept) {
  my ($method, $path) = split / /, (<$client> // '');
  my (%env, $body);
  while (defined(my $line = <$client>)) {
    $line =~ s/\r\n$//;
    last if $line eq '';
    my ($name, $value) = split /:\s*/, $line, 2;
    # As CGI names it.
    ($name = uc $name) =~ s/[^A-Z0-9]/_/g;
    $env{$name} = exists $env{$name} ? "$env{$name},$value" : $value;
  }
  read $client, $body, $env{CONTENT_LENGTH} // 0;
  my $answer = join ' ', ++$calls, $method // '', $path // '', $env{X_ORI_VERIFIED_USER} // 'nobody', $body // '';
  print $client "HTTP/1.0 200 OK\r\n\r\n$answer" if defined $path;
  close $client;
}
