"""A client of the registry's API: `Client`, `AsyncClient`, and what the commands use.

The web processes never import it: they make no outbound request.
"""

from registry.calls.api_call import NO_RETRIES as NO_RETRIES
from registry.calls.api_call import RetryRule as RetryRule
from registry.calls.failures import AnswerInvalid as AnswerInvalid
from registry.calls.failures import CallFailed as CallFailed
from registry.calls.failures import NotAdmitted as NotAdmitted
from registry.calls.failures import NotListed as NotListed
from registry.calls.failures import ProblemAnswered as ProblemAnswered
from registry.calls.failures import ProofFailed as ProofFailed
from registry.calls.failures import RegistryBusy as RegistryBusy
from registry.calls.failures import TooManyCalls as TooManyCalls
from registry.calls.promise_file import PromiseLine as PromiseLine
from registry.calls.promise_file import keep_promise as keep_promise
from registry.calls.results import Json as Json
from registry.calls.results import ProvenInclusion as ProvenInclusion
from registry.calls.results import RankedResult as RankedResult
from registry.calls.results import RecordReceipt as RecordReceipt
from registry.calls.results import RegistrationState as RegistrationState
from registry.calls.results import SearchPage as SearchPage
from registry.calls.results import ShortSite as ShortSite
from registry.calls.results import WholeSite as WholeSite
from registry.client.async_client import AsyncClient as AsyncClient
from registry.client.calling import RegistryUnreachable as RegistryUnreachable
from registry.client.commands_client import OWN_REPORT as OWN_REPORT
from registry.client.commands_client import REPORT as REPORT
from registry.client.commands_client import RegistryClient as RegistryClient
from registry.client.commands_client import SignedFile as SignedFile
from registry.client.identified import ApiKeyAuth as ApiKeyAuth
from registry.client.identified import SigningAuth as SigningAuth
from registry.client.site_document import PUBLIC_NETWORK as PUBLIC_NETWORK
from registry.client.site_document import DevelopmentNetwork as DevelopmentNetwork
from registry.client.site_document import DocumentUnreachable as DocumentUnreachable
from registry.client.site_document import DownloadedDocument as DownloadedDocument
from registry.client.site_document import fetch_document as fetch_document
from registry.client.sync_client import Client as Client
