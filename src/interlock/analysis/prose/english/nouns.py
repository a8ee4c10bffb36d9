"""English nouns, general and of single trades: the kind of thing each names, and how much is at stake."""

from __future__ import annotations

from functools import cache

from interlock.analysis.prose.english.verbs import plural

# (kind, traits) -> the nouns, in the singular; `_` stands for a space.
TRADES: dict[tuple[str, str], str] = {
    # what is called code, a form or a label, and is the thing itself
    ("data", ""): "saved_filter saved_view saved_search saved_report custom_field consent_form intake_form signed_form form_submission bank_statement"
    " discount_code promo_code promotion_code coupon_code voucher_code coupon email_template course lesson_plan grade gradebook exam transcript_record enrollment enrolment syllabus"
    " assignment_submission medical_record health_record patient_record lab_result test_result_record vaccination_record allergy care_plan treatment_plan medication_list referral"
    " chart_note footage dashcam_footage cctv_recording surveillance_footage blueprint cad_drawing drawing_file engineering_drawing technical_drawing scan_image evidence_file case_file"
    " legal_file contract_scan deed testament tape cartridge archive_tape backup_tape generation gdg dataset_member catalog_entry master_catalog vsam feature_store model_registry"
    " training_run training_set experiment checkpoint_file model_weight parquet partition_folder lake lakehouse raw_zone landing_zone bronze_layer silver_layer gold_layer consumer_group"
    " offset dead-letter_queue dlq materialized_view materialised_view stored_procedure trigger_function replication_slot journal_entry accrual posting general_ledger trial_balance"
    " depreciation receipt bookkeeping fiscal_period cost_center price_list catalogue_item cart shopping_cart wishlist loyalty_point reward_point review_rating testimonial campaign"
    " ad_campaign newsletter mailing_list audience segment landing_page_version podcast episode channel_video subtitle_track master_recording mix session_file sample_library"
    " save_game savegame guild character_slot world_save map_file lobby replay design_file figma_file artboard_file brand_asset media_library stock_photo raw_photo"
    " forum community thread_history direct_message dm group_chat pinned_message slack_channel teams_channel shared_drive sharepoint_site intranet knowledge_base help_center"
    " kanban_board sprint backlog epic roadmap okr timeline_entry candidate_profile application_file resume_file reference_letter appraisal performance_review vacation_request"
    " leave_balance sick_note manifest bill_of_lading customs_declaration stock_level bin_location recipe batch_record quality_record"
    " sensor_reading meter_reading telemetry_archive flight_log logbook maintenance_record sample_tube specimen lab_notebook genome sequence_file patent_filing trademark"
    " terraform_state state_file tfstate helm_chart artifact_repository package_registry container_image docker_image golden_image ami machine_image release_asset workflow_run"
    " pull_secret_copy local_copy icloud_copy offline_copy mirror replica_set_data config_backup running-config startup-config nvram flash_memory vlan_database arp_table mac_table",
    ("access", ""): "access_code user_code door_code entry_code badge key_card keycard key_fob parking_permit visitor_pass guest_pass login_code license_assignment licence_assignment",
    ("config", ""): "vlan trunk bgp_session bgp_announcement bgp_prefix prefix_list route_map access-list access_list nat_rule port_forward port_forwarding static_route default_route peering"
    " vpc_peering ospf ospf_area spanning_tree dhcp_scope dhcp_lease dhcp dnssec ptr_record txt_record spf dkim dmarc mail_rule inbox_rule transport_rule conditional_access"
    " group_policy gpo ou sso_connection saml_app oauth_app api_gateway_stage target_group listener_rule routing_rule forwarding_rule autoscaling_group scaling_policy"
    " lifecycle_policy budget_alert webhook_endpoint vpc_endpoint private_endpoint private_link nat_gateway internet_gateway elastic_ip floating_ip firestore_rule security_rule"
    " storage_class reclaim_policy network_acl admission_webhook config_map configmap secret_store on-call_rotation oncall_schedule escalation_policy maintenance_window automation"
    " home_scene routine thermostat_schedule pricing_rule tax_rule shipping_zone payment_gateway_setting checkout_setting redirect_rule robots.txt sitemap pixel_setting",
    ("guard", ""): "auditing mailbox_auditing database_auditing audit_mode uptime_check canary heartbeat crash_reporting error_tracking log_shipping journaling archiving mirroring"
    " dead_man_switch smoke_detector fire_alarm burglar_alarm leak_sensor gas_detector cctv camera_recording gps_tracking backup_plan backup_policy backup_agent standby hot_standby",
    ("safety", ""): "web_filter url_filter mail_filter spam_protection phishing_protection parental_control child_lock content_moderation safe_search age_check kyc aml_check sanctions_screening"
    " fraud_check fraud_detection velocity_check credit_check speed_limiter pressure_relief safety_valve emergency_stop e-stop light_curtain lockout_tagout torque_limit dose_limit dose_check"
    " interaction_check allergy_check consent_check requirepass protected_mode code_signing driver_signing notarization integrity_protection tamper_protection exploit_protection memory_protection"
    " opt-out opt-out_filter unsubscribe_list suppression_list do-not-call_list rate_cap write_protection delete_protection purge_protection termination_protection change_freeze",
    ("resource", ""): "lambda_function cloud_function edge_function azure_function serverless_function cloudflare_worker distribution cdn_distribution inference_endpoint model_endpoint sagemaker_endpoint"
    " model_server notebook_instance spark_cluster airflow dag scheduler_pool runner ci_runner build_runner self-hosted_runner github_runner network_interface uplink access_point wlan ssid"
    " san san_array storage_array disk_array nas_box tape_library domain_controller active_directory dc ad_forest mail_server exchange_server game_server voice_server shard_server"
    " lpar cics cics_region ims_region jes2 db2_subsystem started_task mq_manager queue_manager batch_window failover_group"
    " workload replica_count service_mesh ingress_controller helm_release argo_app vdi citrix_farm terminal_server"
    " pbx call_center_line hotline contact_center payment_terminal pos pos_terminal checkout_server web_shop webshop storefront online_store booking_system ticketing_system erp erp_system crm_system",
    ("account", ""): "nurse doctor physician clinician teacher professor pupil parent learner instructor tutor cashier courier rider host_account landlord renter resident shopper buyer donor"
    " volunteer follower fan guild_member gamer streamer creator author editor journalist reporter attorney paralegal accountant auditor_account agent_account broker_account dealer"
    " trader investor policyholder cardholder beneficiary claimant applicant candidate hire new_hire leaver temp_worker freelancer mailbox_user ad_user ad_account domain_user adaccount"
    " household family_member child_account student_account guest_user external_user b2b_user api_client",
    ("event", ""): "shipping_label return_label parcel shipment appointment meeting slot surgery operation_slot visit consultation checkup session_slot interview webinar workshop_date class_date lecture_date exam_date delivery pickup"
    " flight hotel_room trip itinerary ride rental table_reservation dinner_reservation venue_booking catering event_booking tour show_ticket concert_ticket season_ticket membership_plan"
    " gym_membership newspaper_subscription service_call installation_date repair_visit house_viewing court_date hearing scheduled_post scheduled_email scheduled_newsletter scheduled_payment"
    " standing_transfer shift roster_slot duty on-call_shift vaccination transfusion dialysis blood_draw scan_appointment mri medication_order prescription_refill",
    ("run", ""): "restore migration rollout staged_rollout phased_rollout canary_release cutover failover cook overnight_cook restore_job migration_job replication_job render_job encode_job"
    " backfill_run nightly_batch batch_run data_load firmware_update resync rebalance reindex",
    ("data", "volume"): "persistent_volume_claim volume_claim persistent_volume",
    ("device", ""): "sensor motion_sensor door_lock smart_lock lock bulb light_bulb thermostat doorbell hub_device smart_speaker speaker camera tv_box set-top_box handheld scanner_gun barcode_scanner"
    " meter smart_meter charger wallbox inverter gateway_device tracker wearable watch smartwatch pacemaker pump infusion_pump monitor_device console_device kiosk_tablet point_of_sale"
    " drone robot vacuum_robot printer badge_reader turnstile intercom projector chromebook ipad_fleet handset radio vehicle car truck tractor",
    ("machine", ""): "conveyor conveyor_belt centrifuge turbine generator_set pump_station reactor press_line production_line assembly_line paint_line kiln oven_line crane elevator lift_cabin escalator"
    " compressor coolant coolant_loop cooling_tower valve sluice sluice_gate dam spillway breaker circuit_breaker_panel transformer substation feeder grid_segment traffic_light signal_box"
    " railway_switch barrier_gate blast_door cell_door dosing_pump chlorinator boiler_house furnace_line ventilation_system air_handling life_support_system irrigation sprinkler_system fuel_pump",
    ("disk", ""): "dasd volume_label file_system_disk raid_array disk_pool zpool lvm physical_volume boot_drive system_drive firmware efi_partition nvme_drive",
    ("money", ""): "credit_card debit_card corporate_card company_card bank_card payment_card virtual_card prepaid_card stored_card vacation_balance credit_note direct_deposit escrow settlement stake_account wager commission royalty royalties dividend tip_jar store_credit gift_voucher airtime ad_budget ad_spend",
}  # fmt: skip


# (kind, traits) -> the nouns, in the singular; a phrase counts by its last words.
_NOUNS: dict[tuple[str, str], str] = {
    (
        "data",
        "",
    ): "data row record document entry object item file folder directory message mail email attachment photo picture"
    " image video history dataset mailbox inbox comment post issue wiki thread conversation order ticket log event metric"
    " transaction lead contact report upload asset index contents content queue topic stream reading measurement"
    " spreadsheet sheet calendar note playlist recording article story blob archive information info email_address trash"
    " stash branch tag release commit changes work drafts library catalog catalogue inventory shard tuple payload registry"
    " diskspace storage gallery album memory knowledge embedding vector workspace_content chat voicemail submission"
    " feedback listing product booking reservation card board page dump vault ledger tablespace checkpoint"
    " kv key-value_store worktree submodule dashboard notebook form_response answer survey result sample filesystem share drive_content"
    " deal opportunity case confluence_space wiki_space team_space version_history revision tree pipeline_record prescription chart scan x-ray invoice_record timesheet payslip model",
    (
        "data",
        "database",
    ): "database db postgres postgresql mysql mariadb mongodb mongo redis dynamodb sqlite cassandra elasticsearch"
    " warehouse bigquery snowflake keyspace datastore firestore rds aurora cosmosdb neo4j clickhouse opensearch datalake data_lake"
    " schema_database",
    ("data", "table"): "table collection column",
    ("data", "schema"): "schema",
    ("data", "volume"): "volume pvc filestore nas ebs",
    ("data", "bucket"): "bucket s3 gcs blobstore blob_container",
    ("data", "repository"): "repository repo codebase monorepo",
    ("data", "project"): "project workspace resource_group",
    ("data", "project all"): "gcp_project google_cloud_project cloud_project azure_resource_group",
    ("account", "project all"): "aws_account azure_subscription cloud_account gcp_account azure_account",
    ("data", "backup"): "backup snapshot recovery_point restore_point recovery_vault backup_vault",
    (
        "log",
        "audit_log",
    ): "audit_log audit_trail audit_record security_log access_log event_log cloudtrail audit_logging audit_history"
    " syslog auth_log journal security_event audit_event security_record audit_data login_history shell_history bash_history"
    " compliance_log sign-in_log signin_log login_log activity_trail admin_log evidence",
    (
        "access",
        "",
    ): "access permission privilege role rights grant membership acl entitlement collaborator invitation maintainer"
    " authorization authorisation read_access write_access sharing group_membership access_right login_right",
    (
        "credential",
        "",
    ): "key token secret certificate cert password credential session cookie passkey keypair login passphrase"
    " api_key ssh_key apikey access_key jwt oauth_token webhook_secret kubeconfig pat license_key refresh_token pgp_key invitation_link invite_link magic_link reset_link share_link sharing_link download_link login_link",
    (
        "config",
        "",
    ): "config configuration setting policy rule dns zone domain webhook route alarm schedule cron crontab hook"
    " security_group iptables retention quota integration preference registry_key dns_record parameter redirect certificate_pin"
    " lifecycle_rule subdomain nameserver hosts_file routing_table environment_variable env_var feature_flag sso saml oidc"
    " default filter_rule network_policy nacl branch_rule ruleset mx_record cname vpn ddos_rule service_account_binding"
    " record_set hosted_zone cron_job scheduled_task workflow_rule alerting_rule",
    (
        "guard",
        "",
    ): "backup_job monitoring alert alerting logging monitor alarm replication versioning failover telemetry watchdog health_check"
    " auto-backup automated_backup nightly_backup backup_schedule soft_delete point-in-time_recovery pitr dr disaster_recovery",
    (
        "safety",
        "",
    ): "firewall waf antivirus selinux apparmor defender edr ids encryption tls ssl fail2ban intrusion_detection uac gatekeeper sip"
    " secure_boot retention_lock object_lock ci ci/cd ssl_verification certificate_verification quality_gate check validation approval protection guardrail rate_limit limit restriction safeguard confirmation prompt"
    " verification pre-commit 2fa mfa two-factor two_factor authentication auth sandbox gate branch_protection"
    " deletion_protection code_review security_scan signature safety safety_check lockout captcha csrf cors constraint guard"
    " control precaution safety_net permission_check permission_prompt review test_gate ci_check status_check interlock"
    " sanity_check policy_check admission_controller quota_limit spending_limit access_control multi-factor factor"
    " decision denial refusal veto verdict rejection deny_decision block_decision limiter rate_limiter throttle throttling rls row-level_security csp hsts content_filter moderation spam_filter password_policy policy_engine permission_system circuit_breaker seccomp pod_security anti-virus dlp malware_scanner scanner dual_control four-eyes sign-off signoff integrity_check hook_check",
    (
        "resource",
        "",
    ): "instance vm machine server host node container pod deployment service stack namespace environment env lambda"
    " load_balancer worker fleet app application site website system infrastructure infra droplet dyno replica nodepool gateway"
    " pipeline job daemon process vpc network subnet broker loadbalancer compute hypervisor balancer controller router ec2 eks ecs"
    " gke aks autoscaler virtual_machine kubernetes k8s replica_set statefulset microservice api backend frontend portal"
    " platform proxy cdn crawler agent bot scheduler ingress helm_release release_train web_server datacenter data_center region"
    " mainframe appliance device_fleet farm rack switch grid swarm cloud environment_stack build_server build_machine build_host build_agent build_node build_cluster kiosk phone_line nodegroup",
    ("resource", "cluster"): "cluster",
    ("resource", "production"): "prod production live_site",
    (
        "account",
        "",
    ): "user account member customer employee subscriber client student patient admin administrator owner person"
    " people staff everyone contractor guest login_account moderator operator seller vendor merchant colleague teammate identity"
    " users_account profile_account driver player tester_account human supplier partner guy developer intern principal"
    " profile user_profile jira_profile seat login_profile service_account iam_user login_name participant attendee",
    (
        "account",
        "organization",
    ): "organization organisation org tenant company enterprise team department tenancy division",
    (
        "money",
        "",
    ): "subscription payment invoice refund charge payout plan license licence contract purchase fee money bill balance"
    " salary payroll wage fund credit bonus wire premium deposit installment gift_card withdrawal dispute claim order_payment"
    " bitcoin crypto coin usdc eth dollar euro usd eur purchase_order reimbursement payment_method insurance warranty pension mortgage rent donation pledge standing_order direct_debit",
    (
        "disk",
        "",
    ): "disk drive partition ssd hdd usb nvme hard_drive hard_disk block_device sd_card boot_sector mbr lun raid"
    " volume_group logical_volume flash_drive partition_table filesystem_disk usb_stick sda sdb bootloader",
    (
        "device",
        "",
    ): "device laptop phone macbook workstation computer pc tablet iphone smartphone desktop router_device ipad mac chromebook freezer fridge refrigerator heater heating boiler furnace incubator ventilator sprinkler smart_plug security_camera smoke_detector hvac chiller life_support insulin_pump",
    (
        "history",
        "",
    ): "git_history commit_history branch_history published_history shared_history remote_history main_history",
    (
        "source",
        "one",
    ): "local_change uncommitted_change unstaged_change working_tree untracked_file uncommitted_work local_commit"
    " working_copy unpushed_commit reflog local_work local_modification working_directory",
    (
        "code",
        "",
    ): "code lint_rule eslint_rule linter_rule compiler_warning function method class import variable whitespace dependency package test endpoint feature todo typo docs"
    " readme section paragraph button component style css label warning statement interface module argument parameter_name"
    " documentation chapter sentence word comma newline semicolon bracket indentation lint linter typing annotation"
    " type import_statement decorator helper util utility snippet constant enum struct trait mixin prop attribute field banner"
    " logo icon menu tooltip modal dialog footer header sidebar link div html jsx tsx selector placeholder debug_log"
    " print_statement log_statement console.log duplication duplicate boilerplate license_header changelog markdown bullet heading"
    " spacing typos prefix suffix character string space object_url blank_line empty_line first_line last_line second_line line_break ambiguity confusion noise requirement emoji reference mention"
    " usage support_for deprecation polyfill shim flag_argument line_of_code code_path branch_coverage assertion docstring regex"
    " translation caption animation layout widget shadow margin padding background color colour font column_header navbar tab"
    " screen terminal console clipboard form filter selection cell_output output cell breakpoint checkbox unused_code"
    " dead_code legacy_code ui view template error_message error bug race_condition memory_leak leak flakiness bottleneck blocker"
    " step assignee reviewer milestone due_date conflict merge_conflict row_highlight redundancy hardcoded_value magic_number"
    " callback diagram cancellation_token slash hyphen dash quote accent indentation_error test_case test_suite fixture mock stub spec outlier nan null"
    " null_value missing_value stopword punctuation unused_import trailing_whitespace subtitle tone jargon ui_thread main_thread event_loop render_loop worker_thread loop layer stroke shape sketch drawing canvas preview doodle frame render viewport grid_line badge avatar mockup wireframe prototype decision_tree parse_tree syntax_tree dom_tree search_tree game_tree random_forest hyperparameter gradient optimizer optimiser neuron epoch dataframe data_frame tensor matrix axis legend subplot figure event_handler event_listener service_worker web_worker merge pull_request force-push direct_push merge_request reset_button toast popover accordion carousel breadcrumb dropdown combobox slider stylesheet keyframe sprite shader git_hook_output log_line print_line trailing_space headline title_case citation footnote bibliography adjective adverb filler_word cliche buzzword wording draft_text type_hint docblock generic closure iterator getter setter memo side_effect rerender re-render hover_state tab_order focus_ring scrollbar gutter ligature glyph watermark",
    (
        "scrap",
        "",
    ): "cache temp tmp artifact artefact dist node_modules target_directory target_folder lockfile scratch pyc build_directory build_output"
    " build_folder coverage temp_file temporary_file tmp_file scratch_file build_artifact pycache __pycache__ venv virtualenv .venv"
    " build_cache npm_cache browser_cache test_database test_db test_container dev_server development_server node_process test_process background_process dev_process local_process stuck_process hanging_process python_process local_server"
    " port watcher test_runner storybook dev_container throwaway_container preview_environment sandbox_database sandbox_data"
    " test_data seed_data dummy_data mock_data sample_data scratch_branch local_cache .next .turbo .pytest_cache"
    " tmp_folder tmp_directory temp_directory temp_folder lock_file pid_file dist_folder dist_directory build"
    " build_artefact cdn_cache query_cache dns_cache docker_cache timer stopwatch debugger test_user test_account test_record"
    " simulator emulator swap_file .ds_store thumbnail_cache ci_cache pip_cache gradle_cache query_result search_history"
    " test_instance test_environment local_container local_database session_recording_cache test_row test_table test_bucket"
    " unit_test_database in-memory_database browser_tab window alarm_clock spinner notification_badge scratchpad todo_item reminder",
}

# Adjectives and owners in front of a noun that make it a thing nobody would miss.
THROWAWAY = frozenset(
    "temporary temp tmp scratch throwaway dummy cache mock sample cached stale_cache build generated compiled intermediate test".split()
)


@cache
def nouns() -> dict[str, tuple[str, tuple[str, ...], bool]]:
    """Every noun, singular and plural -> its kind, its traits, and whether it is many."""
    table: dict[str, tuple[str, tuple[str, ...], bool]] = {}
    for (kind, trait), words in (*TRADES.items(), *_NOUNS.items()):
        traits = tuple(trait.split())
        for word in words.split():
            noun = word.replace("_", " ") if not word.startswith(("__", ".")) and word != "node_modules" else word
            table[noun] = (kind, traits, noun in _MANY)
            table.setdefault(plural(noun), (kind, traits, True))
    return table


@cache
def last_words() -> frozenset[str]:
    """The words with which the nouns end that have several."""
    return frozenset(noun.rpartition(" ")[2] for noun in nouns() if " " in noun)


_MANY = frozenset("data contents content changes people staff everyone history information drafts work".split())
