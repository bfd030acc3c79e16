"""Problem types of logs, notes and proofs."""

from registry.errors import ProblemType, Refused

PROOF_INVALID = ProblemType(
    "log_proof_invalid",
    "The Merkle proof does not lead to the root",
    "Ask for the proof again, for the size of the checkpoint you compare it with.",
)
LOG_PROOF_MALFORMED = ProblemType(
    "log_proof_malformed",
    "This is not a c2sp.org/tlog-proof@v1 document",
    "Send the proof exactly as the log gave it.",
)
TILE_PATH_MALFORMED = ProblemType(
    "log_tile_path_malformed",
    "This is no path of a tile or an entry bundle",
    "Spell it tile/<L>/<N>[.p/<W>] or tile/entries/<N>[.p/<W>] as C2SP tlog-tiles does.",
)
TILE_MALFORMED = ProblemType(
    "log_tile_malformed",
    "A tile holds 32 bytes for each of its hashes and nothing else",
    "Fetch the tile again; if it stays so, the log is broken: report it.",
)
BUNDLE_MALFORMED = ProblemType(
    "log_bundle_malformed",
    "The entry bundle is not a sequence of length-prefixed entries",
    "Fetch the bundle again; if it stays so, the log is broken: report it.",
)
ENTRY_TOO_LARGE = ProblemType(
    "log_entry_too_large",
    "A log entry has at most 65,535 bytes",
    "Shorten the entry, or log the hash of what is too long.",
)
NOTE_TOO_LARGE = ProblemType(
    "log_note_too_large",
    "The signed note is longer than a note may be",
    "Drop signatures that nobody needs.",
)
NOTE_MALFORMED = ProblemType(
    "log_note_malformed",
    "This is not a C2SP signed note",
    "Send text, a blank line and signature lines exactly as they were signed.",
)
NOTE_KEY_MALFORMED = ProblemType(
    "log_note_key_malformed",
    "This is not a verifier key of a signed note",
    "Write it as <name>+<key id in 8 hex digits>+<base64 of algorithm and public key>.",
)
NOTE_SIGNATURE_INVALID = ProblemType(
    "log_note_signature_invalid",
    "A signature by a known key does not fit the note",
    "Trust nothing in this note; fetch it again and report it if it stays so.",
)
NOTE_UNSIGNED = ProblemType(
    "log_note_unsigned",
    "No key that you trust has signed the note",
    "Compare the verifier key with the one that the log publishes.",
)
CHECKPOINT_MALFORMED = ProblemType(
    "log_checkpoint_malformed",
    "This is not a C2SP checkpoint",
    "A checkpoint is origin, size and base64 root hash, a line each.",
)
WRONG_ORIGIN = ProblemType(
    "log_origin_wrong",
    "The checkpoint belongs to another log",
    "Use the verifier key of the log that you read.",
)
WITNESS_MALFORMED = ProblemType(
    "log_witness_malformed",
    "This does not name a witness",
    "Write the witness's verifier key of cosignature/v1, a space and its https URL.",
)
WITNESS_ANSWER_INVALID = ProblemType(
    "log_witness_answer_invalid",
    "The witness answered what no witness may answer",
    "Compare its verifier key and URL; if they are right, tell its operator.",
)
WITNESS_REQUEST_MALFORMED = ProblemType(
    "log_witness_request_malformed",
    "This is no request of C2SP tlog-witness",
    "Send old and a size, at most 63 base64 hashes, a blank line and the checkpoint.",
)
WITNESS_LOG_UNKNOWN = ProblemType(
    "log_witness_log_unknown",
    "This witness does not follow the log",
    "Ask the witness's operator to follow the log's verifier key.",
)
WITNESS_CONFLICT = ProblemType(
    "log_witness_conflict",
    "The witness last cosigned another tree of this log",
    "Begin the proof at the size that it names.",
)

LOG_CHECKPOINT_INVALID = ProblemType(
    "log_checkpoint_invalid",
    "The log's checkpoint cannot be trusted",
    "Compare the verifier key; if it is right, keep the checkpoint and report it.",
)
LOG_UNWITNESSED = ProblemType(
    "log_unwitnessed",
    "Too few of the required witnesses have cosigned the checkpoint",
    "Ask again in a minute; if it stays so, ask the witnesses what they have seen.",
)
LOG_MISSING = ProblemType(
    "log_part_missing",
    "The log does not serve a part that its checkpoint promises",
    "Try again; a log that lost data must be reported.",
)
LOG_PART_MALFORMED = ProblemType(
    "log_part_malformed",
    "A part of the log has not the form it must have",
    "Try again; if it stays so, keep the bytes and report them.",
)
LOG_ROOT_WRONG = ProblemType(
    "log_root_wrong",
    "The tiles on the right edge do not give the signed root",
    "Keep the checkpoint and these tiles: together they prove that the log is broken.",
)
LOG_TILE_FORGED = ProblemType(
    "log_tile_forged",
    "A tile does not hash to its node in the tile above it",
    "Keep the checkpoint and the tile: the log has changed what it had published.",
)
LOG_ENTRY_FORGED = ProblemType(
    "log_entry_forged",
    "An entry does not hash to its leaf",
    "Keep the checkpoint and the bundle: the entry is not the one that was logged.",
)
LOG_ENTRY_OTHER = ProblemType(
    "log_entry_other",
    "The entry that the log names is another record than the one asked for",
    "Keep the entry and the answer that named it: the registry has pointed elsewhere.",
)
LOG_SHRUNK = ProblemType(
    "log_shrunk",
    "The log is smaller than it was",
    "Keep both checkpoints: together they prove that entries were taken back.",
)
LOG_FORKED = ProblemType(
    "log_forked",
    "The log does not extend the tree that was seen before",
    "Keep both checkpoints: together they prove a split view.",
)


class ProofInvalid(Refused):
    """A proof that does not prove what it is given for."""

    def __init__(self, detail: str) -> None:
        super().__init__(PROOF_INVALID, detail)


class LogInvalid(Refused):
    """A served log that breaks its own promise.

    path: the file that showed it. entry_index: the entry concerned, if it is one.
    """

    def __init__(
        self,
        kind: ProblemType,
        detail: str,
        *,
        path: str,
        entry_index: int | None = None,
    ) -> None:
        super().__init__(kind, f"{path}: {detail}", pointer=path)
        self.path = path
        self.entry_index = entry_index
