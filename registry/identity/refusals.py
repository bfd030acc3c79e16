"""Problem types of keys, tokens, statements and documents' signatures.

Written for the owner of a small site with openssl and curl at hand.
"""

from registry.errors import ProblemType

# JSON inside tokens and key sets

MEMBER_MISSING = ProblemType(
    "payload_member_missing",
    "The payload lacks a member",
    "Start from the payload that POST /v1/challenges returns, and change only values.",
)
MEMBER_INVALID = ProblemType(
    "payload_member_invalid",
    "A member of the payload has a value that is not allowed",
    "Correct the member, sign the payload again and send the new token.",
)

# Keys

KEY_MALFORMED = ProblemType(
    "key_malformed",
    "The public key is not spelled as its type requires",
    "Give x (and y) as 32 bytes in base64url without padding. For Ed25519: openssl pkey "
    "-in key.pem -pubout -outform DER | tail -c 32 | openssl base64 -A | "
    "tr '+/' '-_' | tr -d '='",
)
KEY_UNSUPPORTED = ProblemType(
    "key_unsupported",
    "This type of key can not sign for a site",
    "Make an Ed25519 key (openssl genpkey -algorithm ed25519 -out key.pem) or a P-256 "
    "key for ES256, and publish its public part.",
)
KEY_NOT_CANONICAL = ProblemType(
    "key_not_canonical",
    "The Ed25519 key is not in its one valid spelling",
    "No honest tool writes such a key: make a new one with "
    "openssl genpkey -algorithm ed25519 -out key.pem",
)
KEY_SMALL_ORDER = ProblemType(
    "key_small_order",
    "The Ed25519 key is one of the eight under which anybody can sign",
    "No honest tool writes such a key: make a new one with "
    "openssl genpkey -algorithm ed25519 -out key.pem",
)
KEY_NOT_ON_CURVE = ProblemType(
    "key_not_on_curve",
    "The key is not a point of its curve",
    "A character was probably lost in copying: take the public key from key.pem again.",
)
KEY_SECRET = ProblemType(
    "key_secret_published",
    "The key set holds a secret key",
    "That key is known to others now and must never be used again: remove it, make a new "
    "key pair, and publish only the public members kty, crv, x (and y for P-256).",
)
KEY_SET_MALFORMED = ProblemType(
    "key_set_malformed",
    "The key set is not a JWK Set",
    'Publish {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "…"}]} as JSON.',
)
KEY_SET_TOO_MANY = ProblemType(
    "key_set_too_many",
    "The key set holds too many keys",
    "Keep at most 16 keys: the one in use and those you are changing to.",
)
PRIVATE_KEY_UNREADABLE = ProblemType(
    "private_key_unreadable",
    "The private key can not be used",
    "Give an unencrypted PEM file of an Ed25519 or P-256 key, as "
    "'openssl genpkey -algorithm ed25519 -out key.pem' writes it.",
)
SIGNATURE_INVALID = ProblemType(
    "signature_invalid",
    "The signature does not fit the signed bytes and the key",
    "Sign exactly the bytes HEADER.PAYLOAD, with no line break after them, with the "
    "private key whose public part your site publishes. Editing the payload after "
    "signing, or sending it through a program that reformats it, has this effect.",
)

# Tokens

TOKEN_TOO_LARGE = ProblemType(
    "token_too_large",
    "The signed token is too large",
    "Keep it below 16 KiB: name your documents by URL, at most 8 of them.",
)
TOKEN_MALFORMED = ProblemType(
    "token_malformed",
    "The body is not a compact JWS",
    "Send HEADER.PAYLOAD.SIGNATURE and nothing else, each part in base64url: "
    "openssl base64 -A | tr '+/' '-_' | tr -d '='. Use printf, not echo, and "
    "curl --data-binary, not --data.",
)
HEADER_MEMBERS = ProblemType(
    "header_members",
    "The protected header must hold alg, kid and typ, and nothing else",
    'Use {"alg":"Ed25519","kid":"…","typ":"site-registration+jws"}. Keys are read from '
    "your site, never from the token.",
)
TYP_WRONG = ProblemType(
    "typ_wrong",
    "The token is not of the type that is expected here",
    'Set "typ" in the protected header as stated and sign again.',
)
ALG_UNSUPPORTED = ProblemType(
    "alg_unsupported",
    "The token's algorithm is not accepted",
    'Set "alg" to "Ed25519" or "ES256", whichever your key is for, and sign with it.',
)
KID_MALFORMED = ProblemType(
    "kid_malformed",
    "The token's kid is not the thumbprint of a key",
    "Compute it over the public members, in this order and without spaces: printf "
    '\'{"crv":"Ed25519","kty":"OKP","x":"%s"}\' "$x" | openssl dgst -sha256 -binary | '
    "openssl base64 -A | tr '+/' '-_' | tr -d '='",
)
KID_MISMATCH = ProblemType(
    "kid_mismatch",
    "The token names another key than the one it is checked with",
    "Sign with a key that your own site publishes, and give that key's thumbprint as kid.",
)
ALG_MISMATCH = ProblemType(
    "alg_mismatch",
    "The token's algorithm is not the one of its key",
    'Set "alg" to "Ed25519" for an Ed25519 key, to "ES256" for a P-256 key.',
)

# Statements

ACT_UNKNOWN = ProblemType(
    "act_unknown",
    "The payload asks for an act that does not exist",
    'Set "act" to register, update, rotate, revoke or withdraw.',
)
ACT_MEMBER_MISPLACED = ProblemType(
    "act_member_misplaced",
    "The payload holds a member that does not belong to its act",
    "docs and declarations go with register and update, next_kid with rotate, "
    "revoked_kid with revoke; send one token for each act.",
)
SUBJECT_SPELLING = ProblemType(
    "sub_spelling",
    "The host in sub is not in its one spelling",
    "Write the host in lower case and international names in their xn-- form.",
)
AUDIENCE_WRONG = ProblemType(
    "aud_wrong",
    "The statement is addressed to another registry",
    'Set "aud" to the origin of this registry exactly as the challenge gave it, without '
    "a slash at the end, and sign again.",
)
LIFETIME_INVALID = ProblemType(
    "lifetime_invalid",
    "The statement's lifetime is not allowed",
    'Set "iat" to now and "exp" to at most 600 seconds later: '
    "iat=$(date +%s); exp=$((iat + 600))",
)
OPERATOR_ACT_UNKNOWN = ProblemType(
    "operator_act_unknown",
    "The statement asks for something that an operator cannot ask for",
    'Set "act" to register, update, rotate or close.',
)
OPERATOR_ACT_MEMBER_MISPLACED = ProblemType(
    "operator_act_member_misplaced",
    "A member does not belong to what the statement asks for",
    "Leave it out: jwk goes with register, next_jwk with rotate, name, contact and "
    "public with register and update, api_key with all but close.",
)
REQUEST_DIGEST_WRONG = ProblemType(
    "request_digest_wrong",
    "Content-Digest is not that of the body",
    "Send Content-Digest: sha-256=:BASE64: of the exact bytes of the body (RFC 9530), "
    "and let the signature cover it.",
)
STATEMENT_EXPIRED = ProblemType(
    "statement_expired",
    "The statement has expired",
    "Set iat and exp anew (iat=$(date +%s); exp=$((iat + 600))), sign and send at once. "
    "If they were right, check your clock.",
)
STATEMENT_FROM_FUTURE = ProblemType(
    "statement_from_future",
    "The statement was issued in the future",
    "Set iat to the present in seconds since 1970 (date +%s), and check your clock; "
    "one minute of difference is allowed.",
)
SEQ_NOT_INCREASING = ProblemType(
    "seq_not_increasing",
    "A statement of this site with this or a higher seq was accepted already",
    'Raise "seq" above the last accepted one and sign again.',
)
SEQ_OUT_OF_REACH = ProblemType(
    "seq_out_of_reach",
    "The seq is too far above the last accepted one",
    'Take the "seq" of the challenge\'s payload, or the present in milliseconds since '
    "1970, and sign again.",
)
NONCE_UNKNOWN = ProblemType(
    "nonce_unknown",
    "The nonce in jti was not issued by this registry",
    'Ask for one with POST /v1/challenges {"host": "…"}, put it into jti and sign again.',
)
NONCE_OF_ANOTHER_HOST = ProblemType(
    "nonce_of_another_host",
    "The nonce in jti was issued for another host",
    'Ask for one for the host in "sub" with POST /v1/challenges, and sign again.',
)
NONCE_USED = ProblemType(
    "nonce_used",
    "The nonce in jti was used already",
    "If your earlier request succeeded there is nothing to do; otherwise ask for a new "
    "nonce with POST /v1/challenges and sign again.",
)
NONCE_EXPIRED = ProblemType(
    "nonce_expired",
    "The nonce in jti has expired",
    "Ask for a new one with POST /v1/challenges and sign within the hour.",
)

# Where keys are found, and whether they may speak

KEY_SET_ELSEWHERE = ProblemType(
    "key_set_elsewhere",
    "The key set was served by another host",
    "Serve /.well-known/agent-registry-keys.json from the registered host itself, over "
    "https on port 443, without a redirect to another host.",
)
WAB_RECORD_MALFORMED = ProblemType(
    "wab_record_malformed",
    "The _wab TXT record does not conform",
    "Write v=wab1; endpoint=https://HOST/agent-bridge.json; pk=ed25519:BASE64, where "
    "BASE64 is: openssl pkey -in key.pem -pubout -outform DER | tail -c 32 | "
    "openssl base64 -A",
)
WAB_RECORD_PAUSED = ProblemType(
    "wab_record_paused",
    "The _wab TXT record is paused, so its endpoint is not read",
    "Write status=active when the endpoint may be read again. A document at "
    "/agent-bridge.json is read whatever the record says.",
)
WAB_RECORD_DEPRECATED = ProblemType(
    "wab_record_deprecated",
    "The _wab TXT record calls its endpoint deprecated; it is still read",
    "Name the new endpoint in a record with status=active, or leave status out.",
)
PIN_RECORD_MALFORMED = ProblemType(
    "pin_record_malformed",
    "The _agent-registry TXT record does not conform",
    "Write v=ar1; kid=THUMBPRINT, the same 43 characters as kid in your tokens.",
)
KEY_NOT_PUBLISHED = ProblemType(
    "key_not_published",
    "The site does not publish the key that signed",
    "Publish it in /.well-known/agent-registry-keys.json on the host, or as pk in the "
    "_wab TXT record, check it with curl or dig, and send the token again.",
)
NEXT_KEY_NOT_PUBLISHED = ProblemType(
    "next_key_not_published",
    "The site does not publish the key that is to follow",
    "Publish the key of next_kid beside the key that signs, at the same place (both in "
    "/.well-known/agent-registry-keys.json), check it with curl, and send the token "
    "again; fair-registry jwks writes such a key set.",
)
REVOKED_KEY_UNKNOWN = ProblemType(
    "revoked_key_unknown",
    "The site never had the key that is to be revoked",
    "Set revoked_kid to the thumbprint of a key that the site has published; the site's "
    "notices name them (GET /v1/sites/HOST/notices).",
)
KEY_NOT_PINNED = ProblemType(
    "key_not_pinned",
    "The site's DNS allows other keys, not the one that signed",
    "Add a TXT record v=ar1; kid=THUMBPRINT for this key at _agent-registry.HOST, or "
    "sign with the key that is named there.",
)
KEY_REVOKED = ProblemType(
    "key_revoked",
    "The key that signed was revoked",
    "Revocation is final: make a new key pair, publish it and sign with it.",
)
KEY_RECOVERY_NEEDS_DNS = ProblemType(
    "key_recovery_needs_dns",
    "The site's earlier keys are gone and nothing vouches for the new one",
    "Add a TXT record v=ar1; kid=THUMBPRINT for the new key at _agent-registry.HOST; the "
    "key takes effect when the record has stood for 72 hours.",
)

# Signed documents

DOCUMENT_SIGNATURE_MALFORMED = ProblemType(
    "document_signature_malformed",
    "The document's signature can not be read",
    "Give signature as an object with algorithm, value, key_id and signed_at, or sign an "
    "envelope of payload and signature.",
)
DOCUMENT_SIGNATURE_ALGORITHM = ProblemType(
    "document_signature_algorithm",
    "The document is signed with an algorithm that is not accepted",
    "Sign with ed25519 over the RFC 8785 form of the document without its signature. "
    "ECDSA-SHA256 was signed over bytes that are no longer there to check.",
)
DOCUMENT_KEY_NOT_PINNED = ProblemType(
    "document_key_not_pinned",
    "The document is signed with a key that the site has not registered",
    "Sign with the key registered here or named as pk in the _wab TXT record. A key "
    "inside the document proves nothing: anybody can put one there.",
)
DOCUMENT_SIGNATURE_INVALID = ProblemType(
    "document_signature_invalid",
    "The document's signature does not fit its content and key",
    "Sign the published content again: any change after signing has this effect.",
)
DOCUMENT_SIGNATURE_NOT_CANONICAL = ProblemType(
    "document_signature_not_canonical",
    "The document was signed in the order of its members",
    "Sign the RFC 8785 form (members sorted, no spaces): another program need not keep "
    "the order in which your document lists its members.",
)
DOCUMENT_SIGNATURE_HOST = ProblemType(
    "document_signature_host",
    "The signed envelope speaks for another host",
    "Set host in the payload to the very host that serves the envelope, with its www. "
    "if it has one, and sign it again; each host needs an envelope of its own.",
)
DOCUMENT_SIGNATURE_FROM_FUTURE = ProblemType(
    "document_signature_from_future",
    "The document's signature was issued in the future",
    "Set issued_at to the present, check your clock, and sign the envelope again; ten "
    "minutes of difference are allowed.",
)
DOCUMENT_SIGNATURE_EXPIRED = ProblemType(
    "document_signature_expired",
    "The document's signature has expired",
    "Set expires_at to a later time and sign the envelope again.",
)
