"""A client of the registry's API: `Client`, `AsyncClient`, and what the commands use.

The web processes never import it: they make no outbound request.
"""

from registry.client.api_call import NO_RETRIES as NO_RETRIES
from registry.client.api_call import RetryRule as RetryRule
from registry.client.async_client import AsyncClient as AsyncClient
from registry.client.commands_client import OWN_REPORT as OWN_REPORT
from registry.client.commands_client import REPORT as REPORT
from registry.client.commands_client import RegistryClient as RegistryClient
from registry.client.commands_client import SignedFile as SignedFile
from registry.client.failures import AnswerInvalid as AnswerInvalid
from registry.client.failures import CallFailed as CallFailed
from registry.client.failures import NotAdmitted as NotAdmitted
from registry.client.failures import NotListed as NotListed
from registry.client.failures import ProblemAnswered as ProblemAnswered
from registry.client.failures import ProofFailed as ProofFailed
from registry.client.failures import RegistryBusy as RegistryBusy
from registry.client.failures import RegistryUnreachable as RegistryUnreachable
from registry.client.failures import TooManyCalls as TooManyCalls
from registry.client.identified import ApiKeyAuth as ApiKeyAuth
from registry.client.identified import SigningAuth as SigningAuth
from registry.client.promise_file import PromiseLine as PromiseLine
from registry.client.promise_file import keep_promise as keep_promise
from registry.client.results import Json as Json
from registry.client.results import ProvenInclusion as ProvenInclusion
from registry.client.results import RankedResult as RankedResult
from registry.client.results import RecordReceipt as RecordReceipt
from registry.client.results import RegistrationState as RegistrationState
from registry.client.results import SearchPage as SearchPage
from registry.client.results import ShortSite as ShortSite
from registry.client.results import WholeSite as WholeSite
from registry.client.site_document import PUBLIC_NETWORK as PUBLIC_NETWORK
from registry.client.site_document import DevelopmentNetwork as DevelopmentNetwork
from registry.client.site_document import DocumentUnreachable as DocumentUnreachable
from registry.client.site_document import DownloadedDocument as DownloadedDocument
from registry.client.site_document import fetch_document as fetch_document
from registry.client.sync_client import Client as Client
