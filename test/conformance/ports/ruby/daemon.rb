# frozen_string_literal: true

# A daemon that replies with its caller: ruby daemon.rb INTERN_ID JWKS_URL [PORT]

require "socket"
require "timeout"
require_relative "oriproof"

BODY_BYTES_MAX = 1_000_000
HEAD_BYTES_MAX = 32_768
IDLE_SECONDS = 30
STATUSES = { "body_too_large" => 413, "body_incomplete" => 400, "keys_unavailable" => 503,
             "replay_store_full" => 503 }.freeze

# One connection. It reads the request line and the header lines as they arrive: Rack would hide how often a name occurs.
class Connection
  def initialize(socket, verifier)
    @socket, @verifier = socket, verifier
  end

  def serve
    nil while answer_one
  rescue SystemCallError, IOError, Timeout::Error
    nil
  ensure
    @socket.close
  end

  private

  # Returns whether the connection can be used again.
  def answer_one
    method, target, headers = Timeout.timeout(IDLE_SECONDS) { read_head }
    return false if method.nil?

    proof = @verifier.begin(method, target, headers)
    # Nothing is accepted later (V17), so nothing is read later.
    bytes = Timeout.timeout(OriProof::BODY_SECONDS, OriProof::Refused, "proof_expired") { read_body(headers, proof) }
    write(200, { user: proof.finish[:user], bytes: bytes })
    headers.none? { |name, value| name.downcase == "connection" && value.downcase == "close" }
  rescue OriProof::Refused => e
    refuse(e)
  end

  def read_head
    left = HEAD_BYTES_MAX
    lines = []
    loop do
      line = @socket.gets("\n", left)&.b
      return if line.nil?
      raise IOError, "a head that is too long or ends early" unless line.end_with?("\r\n")

      break if line == "\r\n"

      lines << line.delete_suffix("\r\n")
      left -= line.bytesize
    end
    method, target, version = lines.shift.to_s.split(" ", 3)
    raise IOError, "not HTTP/1.1" unless version == "HTTP/1.1"

    [method, target, lines.map { |line| header(line) }]
  end

  def header(line)
    name, value = line.match(/\A([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*\z/n)&.captures
    raise IOError, "not a header" if name.nil?

    [name, value]
  end

  def read_body(headers, proof)
    lengths = headers.filter_map { |name, value| value if name.downcase == "content-length" }
    codings = headers.filter_map { |name, value| value.downcase if name.downcase == "transfer-encoding" }
    return read_chunks(proof) if lengths.empty? && codings == ["chunked"]
    return 0 if lengths.empty? && codings.empty?
    raise IOError, "unclear length" unless codings.empty? && lengths.size == 1 && lengths[0].match?(/\A\d{1,12}\z/)

    length = Integer(lengths[0], 10)
    raise OriProof::Refused, "body_too_large" if length > BODY_BYTES_MAX

    proof.update(exactly(length))
    length
  end

  def read_chunks(proof)
    total = 0
    loop do
      size = @socket.gets("\r\n", 64).to_s[/\A\h{1,8}(?=[\r;])/]&.hex
      raise OriProof::Refused, "body_incomplete" if size.nil?
      raise OriProof::Refused, "body_too_large" if (total += size) > BODY_BYTES_MAX

      break if size.zero?

      proof.update(exactly(size))
      exactly(2)
    end
    # Trailer fields are not headers (H5): they are read and dropped.
    nil until ["\r\n", nil].include?(@socket.gets("\r\n", HEAD_BYTES_MAX))
    total
  end

  def exactly(length)
    bytes = @socket.read(length).to_s
    raise OriProof::Refused, "body_incomplete" if bytes.bytesize < length

    bytes
  end

  # The body may not have been read, so the connection is closed.
  def refuse(refused)
    status = STATUSES.fetch(refused.code, 401)
    headers = { "Connection" => "close" }
    headers["WWW-Authenticate"] = "Ori-Proof" if status == 401
    headers["Retry-After"] = refused.retry_after if refused.retry_after
    write(status, { error: { code: refused.code, message: "The proof was not accepted." } }, headers)
    @socket.close_write
    # Reads a little more, so that the answer is not lost to a reset.
    Timeout.timeout(1) { @socket.read(BODY_BYTES_MAX) }
    false
  end

  def write(status, value, headers = {})
    body = JSON.generate(value)
    fixed = { "Content-Type" => "application/json", "Cache-Control" => "no-store", "Content-Length" => body.bytesize }
    lines = fixed.merge(headers).map { |name, text| "#{name}: #{text}\r\n" }
    @socket.write("HTTP/1.1 #{status} \r\n#{lines.join}\r\n#{body}")
  end
end

if $PROGRAM_NAME == __FILE__
  intern_id, url, port = ARGV
  keys = OriProof::RemoteKeys.new(url)
  verifier = OriProof::Verifier.new(intern_id: intern_id, keys: keys, store: OriProof::MemoryStore.new)
  server = TCPServer.new("127.0.0.1", Integer(port || "8081", 10))
  puts "http://127.0.0.1:#{server.addr[1]}"
  $stdout.flush
  loop { Thread.new(server.accept) { |socket| Connection.new(socket, verifier).serve } }
end
