# frozen_string_literal: true

# Verifies daemon proofs. The rules and their ids (V17, K5, …) are those of SPEC.md of @ori/proof.
# Needs Ruby 3.0 or later and nothing else. Strings of a request are binary: one character a byte.

require "digest"
require "json"
require "net/http"
require "openssl"
require "uri"

module OriProof
  BODY_SECONDS = 30
  INTERN_ID = /\A[A-Za-z0-9][A-Za-z0-9_-]{0,127}\z/n
  PATH = %r{\A/[\x21\x22\x24-\x3e\x40-\x7e]{0,2047}\z}n
  PUBLIC_KEY = /\A[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]\z/n
  SIGNATURE = %r{\A[A-Za-z0-9+/]{85}[AQgw]==\z}n
  TOKEN = "[a-z0-9!#$%&'*+.^_`|~-]+"
  CONFIGURED_TYPE = %r{\A(?!multipart/)#{TOKEN}/#{TOKEN}\z}n
  # /i folds only ASCII in binary strings.
  CONTENT_TYPE = %r{\A[ \t]*(#{TOKEN}/#{TOKEN})(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?[ \t]*\z}ni
  IDENTITY = /\A[ \t]*identity[ \t]*\z/ni
  HEADERS = {
    "x-ori-invoke-signature" => SIGNATURE,
    "x-ori-invoke-timestamp" => /\A(?:0|[1-9][0-9]{0,11})\z/n,
    "x-ori-invoke-user" => /\A[\x21-\x2b\x2d-\x7e]{1,255}\z/n,
    "x-ori-invoke-signature-v2" => SIGNATURE,
    "x-ori-invoke-nonce" => /\A[A-Za-z0-9_-]{21}[AQgw]\z/n
  }.freeze
  ALWAYS = HEADERS.keys.first(3).freeze
  VERSION_2 = HEADERS.keys.last(2).freeze

  # The proof is not accepted. `code` is one of SPEC.md, section 7.
  class Refused < StandardError
    attr_reader :code, :retry_after

    def initialize(code, retry_after = nil)
      super(code)
      @code = code
      @retry_after = retry_after
    end
  end

  # --- Keys (section 4)

  P = 2**255 - 19
  L = 2**252 + 27_742_317_777_372_353_535_851_937_790_883_648_493
  D = -121_665 * 121_666.pow(P - 2, P) % P
  SMALL_ORDER = [
    "00" * 32, "01#{"00" * 31}", "ec#{"ff" * 30}7f", "ed#{"ff" * 30}7f", "ee#{"ff" * 30}7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
  ].flat_map do |hex|
    bytes = [hex].pack("H*").bytes
    [0, 0x80].map { |sign| [*bytes.first(31), bytes.last | sign].pack("C*") }
  end.freeze

  def self.little_endian(bytes) = bytes.reverse.unpack1("H*").to_i(16)

  # Adds two points in extended coordinates (RFC 8032, section 5.1.4).
  def self.add(p, q)
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    [e * f % P, g * h % P, f * g % P, e * h % P]
  end

  # K11: the key is canonical, on the curve, and of prime order.
  def self.admitted?(encoded)
    y, sign = little_endian(encoded) & (2**255 - 1), encoded.getbyte(31) >> 7
    return false if y >= P || SMALL_ORDER.include?(encoded)

    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * v.pow(3, P) * (u * v.pow(7, P) % P).pow((P - 5) / 8, P) % P
    x = x * 2.pow((P - 1) / 4, P) % P if v * x * x % P == -u % P
    return false if v * x * x % P != u

    x = P - x if x & 1 != sign
    sum = [0, 1, 1, 0]
    L.digits(2).reverse_each do |bit|
      sum = add(sum, sum)
      sum = add(sum, [x, y, 1, x * y % P]) if bit == 1
    end
    sum[0].zero? && sum[1] == sum[2]
  end

  class Key
    attr_reader :x, :begins, :ends

    # Raises ArgumentError for a key that is not admitted.
    def initialize(jwk)
      @x = jwk["x"]
      raise ArgumentError, "private or x" if %w[d k priv].any? { |name| jwk.key?(name) } || !@x.is_a?(String) || !PUBLIC_KEY.match?(@x)

      encoded = "#{@x}=".tr("-_", "+/").unpack1("m0")
      members = JSON.generate("crv" => "Ed25519", "kty" => "OKP", "x" => @x)
      thumbprint = [Digest::SHA256.digest(members)].pack("m0").tr("+/", "-_").delete("=")
      raise ArgumentError, "kid or point" if jwk.fetch("kid", thumbprint) != thumbprint || !OriProof.admitted?(encoded)

      @begins, @ends = bound(jwk, "nbf", 0), bound(jwk, "exp", Float::INFINITY)
      raise ArgumentError, "an empty interval" if jwk.key?("nbf") && @ends <= @begins

      @public = OpenSSL::PKey.read(["302a300506032b6570032100"].pack("H*") + encoded)
    end

    def verifies?(signature, signed)
      return false if SMALL_ORDER.include?(signature[0, 32]) || OriProof.little_endian(signature[32, 32]) >= L

      @public.verify(nil, signature, signed)
    rescue OpenSSL::PKey::PKeyError
      false
    end

    private

    def bound(jwk, name, absent)
      return absent unless jwk.key?(name)

      value = jwk[name]
      raise ArgumentError, name unless value.is_a?(Numeric) && value.finite? && value >= 0

      value
    end
  end

  # K2, K3: an Ed25519 key for signatures. An absent member excludes nothing; nil is a value.
  def self.ours?(jwk)
    operations = jwk.fetch("key_ops", ["verify"])
    jwk["kty"] == "OKP" && jwk["crv"] == "Ed25519" && jwk.fetch("use", "sig") == "sig" &&
      %w[EdDSA Ed25519].include?(jwk.fetch("alg", "EdDSA")) &&
      operations.is_a?(Array) && operations.include?("verify")
  end

  # The keys of a decoded JWK Set. Raises ArgumentError if the whole set is refused (K1).
  def self.read_key_set(document)
    list = document.is_a?(Hash) ? document["keys"] : nil
    unless list.is_a?(Array) && list.size <= 100 && list.all?(Hash)
      raise ArgumentError, "not a JWK Set of at most 100 keys"
    end

    keys = list.select { |jwk| ours?(jwk) }.filter_map do |jwk|
      Key.new(jwk)
    rescue ArgumentError
      nil
    end
    keys.uniq(&:x)
  end

  # K14 to K18: fetched over https or from loopback; one fetch per 10 s, no redirects.
  class RemoteKeys
    FRESH = 60
    STALE = 600
    APART = 10
    BYTES_MAX = 65_536

    def initialize(url)
      unless %r{\Ahttps://|\Ahttp://(?:127\.0\.0\.1|localhost|\[::1\])[:/]}.match?(url)
        raise ArgumentError, "expected an https address"
      end

      @uri, @keys, @fetched, @tried, @fresh = URI(url), [], -Float::INFINITY, -Float::INFINITY, 0
      @lock = Mutex.new
    end

    def current(renew: false)
      @lock.synchronize do
        now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        if (renew || now >= @fetched + @fresh) && now >= @tried + APART
          @tried = now
          fetch(now)
        end
        raise Refused, "keys_unavailable" if now >= @fetched + @fresh + STALE

        @keys
      end
    end

    private

    def fetch(now)
      text = +""
      options = { use_ssl: @uri.scheme == "https", open_timeout: 2, read_timeout: 2 }
      Timeout.timeout(2) do
        Net::HTTP.start(@uri.host, @uri.port, **options) do |http|
          http.request_get(@uri.request_uri) do |answer|
            raise ArgumentError, "status" unless answer.code == "200"

            answer.read_body { |piece| raise ArgumentError, "size" if (text << piece).bytesize > BYTES_MAX }
            @fresh = fresh_for(answer)
          end
        end
      end
      raise ArgumentError, "UTF-8" unless text.force_encoding("UTF-8").valid_encoding?

      @keys, @fetched = OriProof.read_key_set(JSON.parse(text)), now
    rescue SystemCallError, SocketError, IOError, Timeout::Error, OpenSSL::SSL::SSLError,
           Net::ProtocolError, JSON::ParserError, ArgumentError
      nil
    end

    def fresh_for(answer)
      control = answer["cache-control"].to_s.downcase
      return APART if control.match?(/\bno-(?:store|cache)\b/)

      max_age = control[/(?:\A|[ ,])max-age=(\d{1,9})/, 1]
      max_age ? [[Integer(max_age, 10) - answer["age"].to_i, APART].max, FRESH].min : FRESH
    end
  end

  LocalKeys = Struct.new(:keys) do
    def current(renew: false) = keys
  end

  # --- The replay store (sections 5.6 and 6)

  # Remembers spent proofs of one intern in this process. A restart sets a fence.
  class MemoryStore
    def initialize(clock: -> { Time.now.to_r }, capacity: 100_000)
      @clock, @capacity, @fence = clock, capacity, clock.call
      @spent, @floor, @highest, @marks_from = {}, -1, -1, nil
      @lock = Mutex.new
    end

    def attach(verifier)
      @lock.synchronize { @marks_from = @highest if verifier.accept_v1 && @marks_from.nil? }
    end

    def spend(verifier, timestamp, nonce, v1_id)
      @lock.synchronize do
        now = @clock.call
        raise Refused, "proof_not_yet_valid" if timestamp > now + verifier.tolerance

        horizon = now - verifier.max_age - verifier.tolerance - BODY_SECONDS
        forget(horizon.floor)
        raise Refused, "proof_expired" if timestamp <= [horizon, @floor].max

        fence = (@fence + verifier.tolerance).ceil
        fence = [fence, @marks_from].max if nonce.nil?
        raise Refused.new("proof_before_fence", [1, (fence + 1 - now).ceil].max) if timestamp <= fence

        remember(timestamp, *ids(nonce, v1_id))
      end
    end

    private

    def ids(nonce, v1_id)
      return [["1#{v1_id}", "m#{v1_id}"], ["1#{v1_id}"]] if nonce.nil?

      [["2#{nonce}", "1#{v1_id}"], ["2#{nonce}", *("m#{v1_id}" if @marks_from)]]
    end

    def remember(timestamp, conflicting, recorded)
      raise Refused, "nonce_replayed" if conflicting.any? { |id| @spent.key?(id) }
      raise Refused, "replay_store_full" if @spent.size + recorded.size > @capacity

      recorded.each { |id| @spent[id] ||= timestamp }
      @highest = [@highest, timestamp].max
    end

    # V30: nothing up to the floor is accepted afterwards.
    def forget(horizon)
      return if horizon == @forgotten

      @forgotten = horizon
      @spent.delete_if do |_, timestamp|
        next false if timestamp > horizon

        @floor = [@floor, timestamp].max
        true
      end
    end
  end

  # --- Verification (section 5)

  class Verifier
    attr_reader :intern_id, :keys, :store, :max_age, :tolerance, :accept_v1, :clock

    # `keys.current` returns the keys. Raises ArgumentError for an invalid configuration.
    def initialize(intern_id:, keys:, store:, max_age: 60, tolerance: 2, accept_v1: false,
                   content_type: "application/json", clock: -> { Time.now.to_r })
      [[max_age, 1..600], [tolerance, 0..60]].each do |value, range|
        raise ArgumentError, "expected whole seconds of #{range}" unless value.is_a?(Integer) && range.cover?(value)
      end
      unless INTERN_ID.match?(intern_id) && CONFIGURED_TYPE.match?(content_type)
        raise ArgumentError, "intern_id or content_type"
      end

      @intern_id, @keys, @store, @max_age, @tolerance = intern_id, keys, store, max_age, tolerance
      @accept_v1, @content_type, @clock = accept_v1, content_type, clock
      store.attach(self)
    end

    # Performs steps 1 to 4 on a head. `raw_headers` are [name, value] pairs as received. Raises Refused.
    def begin(method, target, raw_headers)
      now = clock.call
      found = Hash.new { |hash, name| hash[name] = [] }
      raw_headers.each { |name, value| found[name.tr("A-Z", "a-z")] << value }
      raise Refused, "proof_missing" unless ALWAYS.all? { |name| found.key?(name) }

      proof = found.slice(*HEADERS.keys)
      if proof.any? { |name, values| values.size > 1 || !HEADERS[name].match?(values[0]) } ||
         found.key?(VERSION_2[0]) != found.key?(VERSION_2[1])
        raise Refused, "proof_malformed"
      end
      raise Refused, "proof_version_not_accepted" unless proof.key?(VERSION_2[0]) || accept_v1
      raise Refused, "request_not_coverable" unless method == "POST" && PATH.match?(target) && coverable?(found)

      timestamp = Integer(proof["x-ori-invoke-timestamp"][0], 10)
      raise Refused, "proof_expired" if timestamp < now - max_age
      raise Refused, "proof_not_yet_valid" if timestamp > now + tolerance

      OpenProof.new(self, proof.transform_values(&:first), target, now)
    end

    private

    def coverable?(found)
      types = found.fetch("content-type", [])
      type = types.size == 1 && CONTENT_TYPE.match(types[0])
      type && type[1].downcase == @content_type &&
        found.fetch("content-encoding", []).all? { |value| IDENTITY.match?(value) }
    end
  end

  # A head that passed. Feed the body to `update`, then call `finish` once.
  class OpenProof
    def initialize(verifier, proof, path, judged_at)
      @verifier, @proof, @path, @judged_at = verifier, proof, path, judged_at
      @digest = Digest::SHA256.new
    end

    def update(piece) = @digest.update(piece)

    # Verifies the signature, spends the proof, and returns the caller. Raises Refused.
    def finish
      timestamp, user, nonce = @proof.values_at("x-ori-invoke-timestamp", "x-ori-invoke-user", VERSION_2[1])
      named, digest = [@verifier.intern_id, timestamp], @digest.hexdigest
      v1 = netstrings("ori-invoke-v1", *named, user, digest)
      v2 = nonce && netstrings("ori-invoke-v2", *named, nonce, user, "POST", @path, digest)
      at = Integer(timestamp, 10)
      require_signature(@proof[nonce ? VERSION_2[0] : ALWAYS[0]].unpack1("m0"), v2 || v1, at)
      raise Refused, "proof_expired" if @verifier.clock.call - @judged_at > BODY_SECONDS

      @verifier.store.spend(@verifier, at, nonce, Digest::SHA256.digest(v1))
      { user: user, internId: @verifier.intern_id, version: nonce ? 2 : 1, issuedAt: at, nonce: nonce }.compact
    end

    private

    def require_signature(signature, signed, timestamp)
      good = []
      [false, true].each do |renew|
        good = @verifier.keys.current(renew: renew).select { |key| key.begins <= timestamp && timestamp < key.ends }
        return if good.first(3).any? { |key| key.verifies?(signature, signed) }
      end
      raise Refused, good.empty? ? "key_unknown" : "signature_invalid"
    end

    def netstrings(*fields) = fields.map { |field| "#{field.bytesize}:#{field}," }.join.b
  end
end
