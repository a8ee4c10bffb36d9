"""The English objects of single trades: networks, machines, schools, hospitals, shops, money, media, mainframes, models."""

from __future__ import annotations

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
