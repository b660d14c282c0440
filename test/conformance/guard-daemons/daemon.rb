require 'socket'

server = TCPServer.new('127.0.0.1', ENV.fetch('PORT').to_i)
puts 'ready'
$stdout.flush
calls = 0
loop do
  client = server.accept
  method, path = client.gets.to_s.split
  env = {}
  while (line = client.gets) && line != "\r\n"
    name, value = line.chomp.split(/:\s*/, 2)
    # As Rack names it.
    name = name.upcase.tr('^A-Z0-9', '_')
    env[name] = [env[name], value].compact.join(',')
  end
  body = client.read(env['CONTENT_LENGTH'].to_i)
  calls += 1
  client.write "HTTP/1.0 200 OK\r\n\r\n#{[calls, method, path, env['X_ORI_VERIFIED_USER'] || 'nobody', body].join(' ')}" if path
  client.close
end
